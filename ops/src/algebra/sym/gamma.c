/* ---- the gamma function's relatives, in double; sources are those of `on/gamma` ---- */

/* M. Abramowitz, I. A. Stegun, 1964: 6.3.18, 6.3.5, 6.3.7. */
K_FN k_f64 k_digamma(k_f64 x) {
  k_f64 sum = 0, z;
  if (x == 0) return copysign(K_INF_F64, -x);
  if (x < 0) {
    if (x == floor(x)) return K_NAN_F64;
    sum = -3.14159265358979323846 / tan(3.14159265358979323846 * (x - rint(x)));
    x = 1 - x;
  }
  for (; x < 10; x++) sum -= 1 / x;
  if (x > 1e17) return sum + log(x);
  z = 1 / (x * x);
  z *= 1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12)))));
  return sum + log(x) - 0.5 / x - z;
}

/* 6.4.12, 6.4.6, 6.4.7. The product is pi times x, or what is left of it over the nearest whole turn. */
K_FN k_f64 k_trigamma(k_f64 x, k_f64 product) {
  k_f64 sum = 0, sine = sin(product), z, rest;
  k_bool mirrored = x < 0.5;
  if (mirrored) x = 1 - x;
  for (; x < 10; x++) sum += 1 / (x * x);
  z = 1 / (x * x);
  rest = z * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * (691.0 / 2730 - z * 7 / 6))))));
  sum += 1 / x + (0.5 * z + rest / x);
  return mirrored ? 9.86960440108935861883 / (sine * sine) - sum : sum;
}
K_FN k_f64 k_trigamma_f64(k_f64 x) {
  k_bool whole = x < 0 && x == floor(x);
  return k_trigamma(x, 3.14159265358979323846 * (whole ? x : x - rint(x)));
}
K_FN k_f32 k_trigamma_f32(k_f32 x) {
  k_f32 product = 3.14159265358979323846f * x;
  if (x < 0 && x == floorf(x)) return (k_f32)k_trigamma(x, product);
  return (k_f32)k_trigamma_f64(x);
}

/* The sum of (q + k)^-s from 0 on: terms, then Euler's and Maclaurin's formula (23.1.30). */
K_FN k_f64 k_zeta_sum(k_f64 s, k_f64 q) {
  const k_f64 factors[12] = {
    8.3333333333333333e-2, -1.3888888888888889e-3, 3.3068783068783069e-5, -8.2671957671957672e-7,
    2.0876756987868099e-8, -5.2841901386874932e-10, 1.3382536530684679e-11, -3.3896802963225829e-13,
    8.5860620562778446e-15, -2.1748686985580619e-16, 5.5090028283602295e-18, -1.3954464685812523e-19,
  };
  const k_f64 nothing = 1.1102230246251565e-16;
  k_f64 sum = pow(q, -s), term = 0, rising = 1, correction;
  int k;
  for (k = 0; k < 9 || q <= 9; k++) {
    q += 1;
    term = pow(q, -s);
    sum += term;
    if (-nothing * sum < term && term < nothing * sum) return sum;
  }
  sum += term * q / (s - 1);
  sum -= 0.5 * term;
  for (k = 0; k < 12; k++) {
    rising *= s + 2 * k;
    term /= q;
    correction = rising * term * factors[k];
    sum += correction;
    if (fabs(correction / sum) < nothing) return sum;
    rising *= s + 2 * k + 1;
    term /= q;
  }
  return sum;
}

K_FN k_f64 k_zeta(k_f64 s, k_f64 q) {
  k_f64 rest, mirrored;
  if (s == 1) return K_INF_F64;
  if (s < 1) return K_NAN_F64;
  if (q <= 0) {
    if (q == floor(q)) return K_INF_F64;
    if (s != floor(s)) return K_NAN_F64;
  }
  if (!(q < -4096)) return k_zeta_sum(s, q);
  rest = ceil(q) - q;
  mirrored = k_zeta_sum(s, rest) - k_zeta_sum(s, 1 - q);
  return k_zeta_sum(s, 1 - rest) + (floor(s * 0.5) == s * 0.5 ? mirrored : -mirrored);
}

#define K_GAMMA(n, T) \
  K_FN T k_lgamma_##n(T a) { return (T)lgamma((k_f64)a); } \
  K_FN T k_digamma_##n(T a) { return (T)k_digamma(a); } \
  K_FN T k_zeta_##n(T a, T b) { return (T)k_zeta(a, b); }

K_GAMMA(f32, k_f32)
K_GAMMA(f64, k_f64)

/* ---- the regularised incomplete gamma functions; the ways and their sources are those of `on/gamma` ---- */

/* N. M. Temme's uniform asymptotic expansion, 1979, for a shape above 200 and x within 0.3 of it. */
K_FN k_f64 k_igamma_temme(k_f64 a, k_f64 mu, k_f64 sign) {
  const k_f64 c[7][16] = {
    { -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073,
      0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06,
      -1.85406221071516e-06, 8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09,
      1.0261809784240309e-08, -4.382036018453353e-09, 9.14769958223679e-10, -2.5514193994946248e-11 },
    { -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596,
      0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06,
      -1.6120900894563446e-06, 4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08,
      1.1951628599778148e-08 },
    { 0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06,
      -0.0001073665322636516, 5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08,
      1.3721957309062934e-06, -6.298992138380055e-07, 1.4280614206064242e-07 },
    { 0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885,
      -7.561801671883977e-05, -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06,
      1.4230900732435883e-06 },
    { -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06,
      6.641498215465122e-05, -3.968365047179435e-05, 1.1375726970678419e-05 },
    { -0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392, -0.00019932570516188847,
      6.797780477937208e-05 },
    { 0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045 },
  };
  k_f64 r = mu / (2 + mu), square = r * r, rest = 0, series = 0, half, eta;
  int k, n;
  for (k = 12; k > 0; k--) rest = (rest + 1.0 / (2 * k + 1)) * square;
  half = mu * r - 2 * r * rest;
  eta = copysign(sqrt(2 * half), mu);
  for (k = 6; k >= 0; k--) {
    rest = 0;
    for (n = 15; n >= 0; n--) rest = rest * eta + c[k][n];
    series = series / a + rest;
  }
  series *= exp(-a * half) / sqrt(6.28318530717958647693 * a);
  return 0.5 * erfc(sign * copysign(sqrt(a * half), mu)) + sign * series;
}

/* x^a e^-x / gamma(a); 0 below the least exponent, or of a shape next to nothing. */
K_FN k_f64 k_igamma_factor(k_f64 a, k_f64 x, k_f64 least, k_f64 shape) {
  k_f64 mu = (x - a) / a, exponent;
  if (a > 1e6) return 0;
  if (a > 10) {
    exponent = a * ((mu < -0.5 ? log(x / a) : log1p(mu)) - mu) - (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / (a * a)) / (a * a)) / (a * a)) / a;
    exponent += 0.5 * log(a / 6.28318530717958647693);
  }
  else exponent = a * log(x) - x - lgamma(a);
  /* As the dtype has the exponent. */
  mu = least > -100 ? (k_f64)(k_f32)exponent : exponent;
  if (fabs(a - x) > 0.4 * a ? mu < least : a < shape) return 0;
  return exp(exponent);
}

K_FN k_f64 k_igamma_lower(k_f64 a, k_f64 x, k_f64 least, k_f64 shape) {
  k_f64 factor = k_igamma_factor(a, x, least, shape), term = 1, sum = 1;
  int k;
  for (k = 1; k <= 2000 && factor != 0 && term > 1.1e-16 * sum; k++) {
    term *= x / (a + k);
    sum += term;
  }
  return factor == 0 ? 0 : sum * factor / a;
}

K_FN k_f64 k_igamma_upper(k_f64 a, k_f64 x, k_f64 least, k_f64 shape) {
  k_f64 factor, term = 1, sum = 0, below = x + 1 - a, ratio = K_INF_F64, inverse, change = 0;
  int k;
  if (x > 1.1 && x >= a) {
    factor = k_igamma_factor(a, x, least, shape);
    if (factor == 0) return 0;
    inverse = 1 / below, sum = inverse;
    for (k = 1; k <= 2000 && fabs(change - 1) > 1.2e-16; k++) {
      below += 2;
      inverse = 1 / (k * (a - k) * inverse + below);
      ratio = below + k * (a - k) / ratio;
      change = ratio * inverse;
      sum *= change;
    }
    return sum * factor;
  }
  if (x > 1.1 || (x <= 0.5 ? -0.4 / log(x) < a : x * 1.1 < a)) return 1 - k_igamma_lower(a, x, least, shape);
  for (k = 1; k <= 2000; k++) {
    term *= -x / k;
    sum += term / (a + k);
    if (fabs(term) <= 1.1e-16 * fabs(sum)) break;
  }
  factor = a * log(x) - (a < 1e-5 ? a * (a * 0.82246703342411322 - 0.57721566490153286) : lgamma(1 + a));
  return -expm1(factor) - a * exp(factor) * sum;
}

K_FN k_f64 k_igamma_share(k_f64 a, k_f64 x, k_bool upper, k_f64 least, k_f64 shape) {
  k_f64 mu = (x - a) / a;
  if (x < 0 || a < 0 || (a == 0 && !(x > 0))) return K_NAN_F64;
  if (a == 0) return !upper;
  if (x == 0) return upper;
  if (a == K_INF_F64) return x == K_INF_F64 ? K_NAN_F64 : upper;
  if (x == K_INF_F64) return !upper;
  if (a != a || x != x) return K_NAN_F64;
  if (a > 200 && fabs(mu) < 0.3) return k_igamma_temme(a, mu, upper ? 1 : -1);
  if (upper) return k_igamma_upper(a, x, least, shape);
  return x > 1 && x > a ? 1 - k_igamma_upper(a, x, least, shape) : k_igamma_lower(a, x, least, shape);
}

K_FN k_f32 k_igamma_f32(k_f32 a, k_f32 x) {
  return (k_f32)k_igamma_share(a, x, 0, -88.72283935546875, 4.18962e-39);
}
K_FN k_f32 k_igammac_f32(k_f32 a, k_f32 x) {
  return (k_f32)k_igamma_share(a, x, 1, -88.72283935546875, 4.18962e-39);
}
K_FN k_f64 k_igamma_f64(k_f64 a, k_f64 x) {
  return k_igamma_share(a, x, 0, -709.782712893384, 7.93038643415849e-309);
}
K_FN k_f64 k_igammac_f64(k_f64 a, k_f64 x) {
  return k_igamma_share(a, x, 1, -709.782712893384, 7.93038643415849e-309);
}
