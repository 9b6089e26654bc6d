//! Declarations of operators in the words of PyTorch's native_functions.yaml, and what follows from them.
//!
//! Three parts, each of which is tested without a compiler: `parse` reads tokens into declarations, `check` holds
//! them against the rules and against PyTorch's list, `expand` writes what they stand for. Nothing that is written
//! is read by another macro, but for one list of kernels a family.
#![forbid(unsafe_code)]

mod check;
mod declaration;
mod expand;
mod forms;
mod option;
mod parse;
mod pytorch;
#[cfg(test)]
mod tests;
mod tokens;
mod types;

use proc_macro::TokenStream;

/// The operators of one family; see `monomorph_ops::native!`, which adds the path of its crate in front.
#[proc_macro]
pub fn native(input: TokenStream) -> TokenStream {
    let input: proc_macro2::TokenStream = input.into();
    let result = expanded(input.clone());
    result.unwrap_or_else(|error| expand::refused(input, &error.into_compile_error())).into()
}

fn expanded(input: proc_macro2::TokenStream) -> syn::Result<proc_macro2::TokenStream> {
    let family = syn::parse2(input)?;
    check::family(&family)?;
    Ok(expand::family(&family))
}

/// The families of a crate: a module and a trait for each, `families! { root; arithmetic: Arithmetic, .. }`.
#[proc_macro]
pub fn families(input: TokenStream) -> TokenStream {
    match syn::parse::<parse::Families>(input) {
        Ok(families) => expand::families(&families).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
