//! What a family gives as a whole: its trait, its rows in a row, the list of its kernels for devices.

use super::{Named, row::functions_on};
use crate::declaration::{Definition, Family};
use crate::parse::Families;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// The trait and the functions of a family.
pub(super) fn items(family: &Family) -> TokenStream {
    let root = &family.root;
    let (core, table) = (quote!(#root::core), quote!(#root::table));
    let name = &family.name;
    let ops: Vec<_> = kernels(family);
    let rows: Vec<Named<'_>> = family.rows.iter().filter_map(|row| Named::of(family, row)).collect();
    let keys: Vec<TokenStream> = rows.iter().map(Named::key).collect();
    let is_structured =
        |named: &Named<'_>| matches!(named.row.definition, Definition::Structured(_) | Definition::Operator(_));
    let each = |wanted: bool| {
        let each = rows.iter().zip(&keys).map(|(named, key)| match is_structured(named) == wanted {
            true => quote!(<#key as #table::RunsOn<D>>::kernels()),
            false => quote!(Vec::new()),
        });
        quote!(vec![#(#each),*])
    };
    let (structured, functions, on) = (each(true), each(false), functions_on(family));
    let extra = family.functions_on.as_ref().map(|_| quote!(+ #on));
    let bound = quote!(family::#name #extra);
    // In the tree the family's trait implies them.
    let own: Vec<&TokenStream> = match family.is_in_tree() {
        true => Vec::new(),
        false => rows.iter().zip(&keys).filter(|(named, _)| is_structured(named)).map(|(_, key)| key).collect(),
    };
    let doc = "A device that executes every operator of the family.";
    quote! {
        pub mod family {
            #[allow(unused_imports, reason = "declarations name what the module around them has in scope")]
            use super::*;

            #[doc = #doc]
            pub trait #name: #core::Device #(+ #core::structured::Executes<#ops>)* {}
            impl<D: #core::Device #(+ #core::structured::Executes<#ops>)*> #name for D {}
        }

        /// The declarations, in their order.
        pub fn entries() -> Vec<#table::Entry> {
            vec![#(#table::Entry::of::<#keys>()),*]
        }

        /// The kernels of structured operators on a device; none for other rows.
        pub fn structured_kernels<D: #core::Device + #bound>() -> Vec<Vec<#core::dispatch::KernelFunction>>
        where
            #(#own: #table::RunsOn<D>,)*
        {
            #structured
        }

        /// The kernels of views and functions on a device; none for other rows.
        pub fn function_kernels<D: #core::Device + #on>() -> Vec<Vec<#core::dispatch::KernelFunction>> {
            #functions
        }
    }
}

/// The operators that devices have kernels of, each once.
fn kernels(family: &Family) -> Vec<&syn::Type> {
    let mut seen: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for row in &family.rows {
        let Definition::Structured(ty) = &row.definition else { continue };
        let text = ty.to_token_stream().to_string();
        if !seen.contains(&text) {
            all.push(ty);
            seen.push(text);
        }
    }
    all
}

/// The macro that calls another with each kernel, from whatever crate: the one expansion that another reads. In front
/// it is given the path of the family's module.
pub(super) fn kernel_list(family: &Family) -> TokenStream {
    // Kernels of users' crates are compiled where they are called.
    if !family.is_in_tree() {
        return TokenStream::new();
    }
    let list = format_ident!("__{}_kernels", snake(&family.name.to_string()));
    let kernels: Vec<Kernel> = kernels(family).into_iter().enumerate().map(|(i, ty)| Kernel::new(ty, i)).collect();
    let mut templates: Vec<&str> = kernels.iter().map(|kernel| &*kernel.template).collect();
    templates.sort_unstable();
    templates.dedup();
    let arms = templates.iter().map(|wanted| {
        let wanted_ident = format_ident!("{wanted}");
        let calls = kernels
            .iter()
            .filter(|kernel| kernel.template == *wanted)
            .map(|Kernel { text, body, .. }| quote!($callback! { $($module)*::native::kernels::#body, #text }));
        quote!(([$($module:tt)*] #wanted_ident $callback:ident) => { #(#calls)* };)
    });
    let every = kernels.iter().map(|Kernel { op, .. }| quote!($callback! { $($module)*::native::kernels::#op }));
    quote! {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! #list {
            ([$($module:tt)*] every $callback:ident) => { #(#every)* };
            #(#arms)*
            ($module:tt $template:ident $callback:ident) => {};
        }
    }
}

/// The kernels under names that other crates can write.
pub(super) fn kernel_names(family: &Family) -> TokenStream {
    let names = kernels(family).into_iter().enumerate().map(|(i, ty)| {
        let Kernel { op, body, .. } = Kernel::new(ty, i);
        let inner = argument(ty).unwrap_or_else(|| quote!(#ty));
        quote!(pub type #op = #ty; pub type #body = #inner;)
    });
    quote! {
        /// The kernels of the family, for lists of them.
        pub mod kernels {
            #[allow(unused_imports, reason = "declarations name what the module around them has in scope")]
            use super::*;
            #(#[allow(missing_docs, reason = "a name for a list")] #names)*
        }
    }
}

/// One kernel: its operator, and what its template is given.
struct Kernel {
    /// The name of the template, or the operator's own.
    template: String,
    op: Ident,
    body: Ident,
    text: String,
}

impl Kernel {
    fn new(ty: &syn::Type, number: usize) -> Kernel {
        let (template, text) = parts(ty);
        Kernel { template, op: format_ident!("Op{number}"), body: format_ident!("Body{number}"), text }
    }
}

/// The first type that a template is given.
pub(super) fn argument(ty: &syn::Type) -> Option<TokenStream> {
    let syn::Type::Path(path) = ty else { return None };
    match &path.path.segments.last()?.arguments {
        syn::PathArguments::AngleBracketed(args) => args.args.first().map(ToTokens::to_token_stream),
        _ => None,
    }
}

/// The name of a template and of what it is given: `Pointwise<AddFn>` is `Pointwise` and `"AddFn"`.
fn parts(ty: &syn::Type) -> (String, String) {
    let last = |text: String| text.rsplit("::").next().unwrap_or(&text).trim().to_owned();
    let template = match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    };
    let template = template.unwrap_or_default();
    let body = argument(ty).map_or_else(|| template.clone(), |argument| last(argument.to_string()));
    (template, body)
}

/// `FloatPower` as `float_power`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Everything that all families of a crate have together.
pub(crate) fn families(families: &Families) -> TokenStream {
    let root = &families.root;
    let kernels = quote!(Vec<Vec<#root::core::dispatch::KernelFunction>>);
    let modules: Vec<_> = families.families.iter().map(|(module, _)| module).collect();
    let memory = &modules[families.computing..families.common];
    let (common, partial) = modules.split_at(families.common);
    let names: Vec<_> = families.families.iter().map(|(_, name)| name).collect();
    let (common_names, partial_names) = names.split_at(families.common);
    let snakes: Vec<_> = names.iter().map(|name| format_ident!("{}", snake(&name.to_string()))).collect();
    let typed = ["functions", "methods", "options", "meta", "prepared"].map(|kind| {
        let (name, kind) = (format_ident!("typed_{kind}"), format_ident!("{kind}"));
        quote! {
            #[allow(unused_imports, reason = "not every family has items of each kind")]
            mod #name {
                #(pub use #root::#modules::native::#kind::*;)*
            }
        }
    });
    let lists: Vec<_> = names.iter().map(|name| format_ident!("__{}_kernels", snake(&name.to_string()))).collect();
    quote! {
        /// The bounds of code that is generic over the device: the operators of a family run on it.
        pub mod kernels {
            #(pub use #root::#modules::native::family::#names;)*

            /// A device that executes every operator of the table.
            pub trait Kernels: #root::fill::Fills<StdOps = #root::StdOps> + #(#common_names +)* {}
            impl<D: #root::fill::Fills<StdOps = #root::StdOps> + #(#common_names +)*> Kernels for D {}

            /// A device that executes the operators of templates, too, which not every device has.
            pub trait AllKernels: Kernels #(+ #partial_names)* {}
            impl<D: Kernels #(+ #partial_names)*> AllKernels for D {}
        }

        /// The typed forms of every declaration.
        #(#typed)*

        /// Every declaration, in the order of the families.
        pub fn entries() -> Vec<#root::table::Entry> {
            [#(#root::#modules::native::entries()),*].into_iter().flatten().collect()
        }

        /// The kernels of structured operators on a device, in the order of [`entries`]; none for other operators.
        pub fn structured_kernels<D: AllKernels + #root::fill::Fills>() -> #kernels {
            [#(#root::#modules::native::structured_kernels::<D>()),*].into_iter().flatten().collect()
        }

        /// The same on a device that has no kernels of templates that not every device has.
        pub fn common_kernels<D: Kernels + #root::fill::Fills>() -> #kernels {
            let none = [#(#root::#partial::native::entries().len()),*].into_iter().sum();
            let common = [#(#root::#common::native::structured_kernels::<D>()),*].into_iter().flatten();
            common.chain(std::iter::repeat_n(Vec::new(), none)).collect()
        }

        /// The kernels of views and functions on a device, in the order of [`entries`]; none for other operators.
        pub fn function_kernels<D: AllKernels + #root::fill::Fills>() -> #kernels {
            [#(#root::#modules::native::function_kernels::<D>()),*].into_iter().flatten().collect()
        }

        /// The declarations of the families that need of a device its memory and its copy.
        pub fn memory_entries() -> Vec<#root::table::Entry> {
            [#(#root::#memory::native::entries()),*].into_iter().flatten().collect()
        }

        /// Their views and functions on a device, in the order of [`memory_entries`].
        pub fn memory_kernels<D: #root::fill::Fills>() -> #kernels {
            [#(#root::#memory::native::function_kernels::<D>()),*].into_iter().flatten().collect()
        }

        /// Calls `$callback! { .. }` for every kernel of the table: how a device compiles its kernels. `every` gives
        /// the operator, `Pointwise` or `Reduce` what the template is given, with its name.
        #[macro_export]
        macro_rules! for_each_kernel {
            ($template:ident $callback:ident) => { #( $crate::#lists! { [$crate::#modules] $template $callback } )* };
            // In a module for each family, so that a kernel more is no change to other families' code.
            (modules $template:ident $callback:ident) => {
                #( mod #snakes { $crate::#lists! { [$crate::#modules] $template $callback } } )*
            };
        }
    }
}
