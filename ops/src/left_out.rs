//! Which operators a feature has, for the error about one that is not in this build.

/// Operators of the feature `special` without their overloads and without the polynomials, which their names tell.
const SPECIAL: &str = "_foreach_lgamma digamma i0 igamma igammac lgamma mvlgamma polygamma special_airy_ai \
    special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma special_erfcx \
    special_gammainc special_gammaincc special_gammaln special_i0 special_i0e special_i1 special_i1e special_log_ndtr \
    special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 \
    special_multigammaln special_ndtr special_ndtri special_polygamma special_psi special_scaled_modified_bessel_k0 \
    special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_zeta";

/// Operators of the feature `fft` without their overloads.
const FFT: &str = "_fft_c2c _fft_c2r _fft_r2c fft_fft fft_fft2 fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn \
    fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn \
    fft_rfft fft_rfft2 fft_rfftn istft stft";

/// Operators of the feature `linalg` without their overloads.
const LINALG: &str = "_cholesky_solve_helper _linalg_check_errors _linalg_det _linalg_eigh _linalg_slogdet \
    _linalg_solve_ex _linalg_svd _lu_with_info cholesky_inverse cholesky_solve det geqrf inverse linalg_cholesky \
    linalg_cholesky_ex linalg_det linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product \
    linalg_inv linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve linalg_lstsq linalg_lu \
    linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matrix_exp linalg_matrix_power linalg_matrix_rank \
    linalg_matrix_sqrth linalg_pinv linalg_polar linalg_qr linalg_slogdet linalg_solve linalg_solve_ex \
    linalg_solve_triangular linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve linalg_vander logdet \
    lu_solve lu_unpack matrix_exp matrix_power orgqr ormqr pinverse slogdet svd triangular_solve";

/// Operators of the feature `random` without their overloads.
const RANDOM: &str = "_sample_dirichlet _standard_gamma alpha_dropout bernoulli binomial cauchy dropout exponential \
    feature_alpha_dropout feature_dropout geometric log_normal multinomial native_dropout native_dropout_backward \
    normal normal_functional poisson rand rand_like randint randint_like randn randn_like random randperm rrelu \
    rrelu_with_noise rrelu_with_noise_functional uniform";

/// The feature of the facade that has an operator, if it is one that may be left out.
pub fn feature_of(name: &str) -> Option<&'static str> {
    let base = name.split('.').next().unwrap_or(name).trim_end_matches('_');
    if base.contains("_polynomial_") {
        return Some("special");
    }
    let features = [("special", SPECIAL), ("random", RANDOM), ("fft", FFT), ("linalg", LINALG)];
    let has = |(_, names): &(_, &str)| names.split_whitespace().any(|name| name == base);
    features.into_iter().find(has).map(|(feature, _)| feature)
}

#[cfg(all(test, feature = "fft", feature = "linalg", feature = "random", feature = "special"))]
mod tests {
    use super::*;

    #[test]
    fn the_features_have_the_operators_that_are_said() {
        for declaration in crate::table::declarations() {
            let in_module = |(module, _): &(&str, _)| declaration.module.contains(module);
            let modules =
                [("::special::", "special"), ("::random::", "random"), ("::fourier", "fft"), ("::linalg", "linalg")];
            let feature = modules.into_iter().find(in_module).map(|(_, feature)| feature);
            let names = declaration.forms.iter().filter_map(|form| form.schema);
            for name in names.filter_map(|schema| schema.split('(').next()) {
                assert_eq!(feature_of(name), feature, "{name}");
            }
        }
    }
}
