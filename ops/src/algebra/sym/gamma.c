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
