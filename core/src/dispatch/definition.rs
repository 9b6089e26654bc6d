//! Declarations of operators with the kernels of their dispatch sections. Owns what a declaration may say; registering
//! it is the library's.

use super::kernel::KernelFunction;
use super::key::{AliasKey, RegistrationKey};
use super::operator::{Flags, Shared};
use crate::error::{DispatchError, Result};
use crate::schema::Schema;

/// A declaration of an operator, with the kernels of its dispatch section.
///
/// A [`default`](Definition::default_kernel) kernel without a dispatch section is `CompositeImplicit`.
#[derive(Clone, Debug)]
pub struct Definition {
    pub(super) schema: Schema,
    pub(super) flags: Flags,
    pub(super) kernels: Vec<(RegistrationKey, KernelFunction)>,
    pub(super) default: Option<KernelFunction>,
    pub(super) completed_by: Option<String>,
}

impl Definition {
    /// A declaration without kernels.
    pub fn new(schema: Schema) -> Definition {
        Definition { schema, flags: Flags::default(), kernels: Vec::new(), default: None, completed_by: None }
    }

    /// A declaration from the text of its schema.
    ///
    /// # Errors
    ///
    /// [`DispatchError::Schema`] with the column.
    pub fn parse(schema: &str) -> Result<Definition> {
        Ok(Definition::new(Schema::parse(schema).map_err(DispatchError::Schema)?))
    }

    /// The same with other flags.
    #[must_use]
    pub fn with_flags(self, flags: Flags) -> Definition {
        Definition { flags, ..self }
    }

    /// The same with one kernel for several keys.
    #[must_use]
    pub fn dispatch(
        mut self,
        keys: impl IntoIterator<Item = impl Into<RegistrationKey>>,
        kernel: KernelFunction,
    ) -> Definition {
        self.kernels.extend(keys.into_iter().map(|key| (key.into(), kernel.clone())));
        self
    }

    /// The same with a kernel that is composed of other operators.
    #[must_use]
    pub fn default_kernel(self, kernel: KernelFunction) -> Definition {
        Definition { default: Some(kernel), ..self }
    }

    /// The same as a structured operator: on a backend of another crate that has a kernel of `out`, this form is
    /// completed by its meta kernel and that one.
    #[must_use]
    pub fn completed_by(self, out: impl Into<String>) -> Definition {
        Definition { completed_by: Some(out.into()), ..self }
    }

    /// The kernels, the default one under the key that it stands for.
    pub(super) fn into_kernels(self, shared: &Shared) -> Result<Vec<(RegistrationKey, KernelFunction)>> {
        let implicit = RegistrationKey::Alias(AliasKey::CompositeImplicit);
        let mut kernels = self.kernels;
        if let (true, Some((key, _))) = (self.default.is_some(), kernels.first()) {
            return Err(DispatchError::DefaultWithDispatch { key: shared.name_of(*key) }.into());
        }
        kernels.extend(self.default.map(|kernel| (implicit, kernel)));
        if let (true, Some((key, _))) = (self.flags.manual_registration, kernels.first()) {
            return Err(DispatchError::ManualRegistration { key: shared.name_of(*key) }.into());
        }
        Ok(kernels)
    }
}
