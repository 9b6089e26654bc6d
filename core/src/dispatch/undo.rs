//! What a library has registered, taken as a whole: undone when it is dropped, made another library's, or in use by
//! others. Owns these passes over the operators that a library has touched; each registration is made in `library`.

use super::Dispatcher;
use super::operator::{LibraryId, Shared};
use std::sync::Arc;

impl Dispatcher {
    /// Undoes what a library has done.
    pub(super) fn remove(&self, library: LibraryId) {
        let mut edit = self.edit();
        let touched = edit.touched.remove(&library).unwrap_or_default().list;
        let before = edit.shared.fallbacks.len();
        edit.shared.fallbacks.retain(|kept| kept.library != library);
        let mut all = edit.shared.fallbacks.len() != before;
        for info in edit.shared.backends.iter_mut().filter(|info| info.as_ref().is_some_and(|i| i.library == library)) {
            *info = None;
            all = true;
        }
        for operator in &touched {
            let mut own = operator.lock();
            own.kernels.retain(|kept| kept.library != library);
            let defined = if own.is_defined_by(library) { own.defined.take() } else { None };
            drop(own);
            if let Some(out) = defined.as_ref().and_then(|defined| defined.completed_by.as_ref()) {
                out.lock().dependents.retain(|dependent| dependent.as_ptr() != Arc::as_ptr(operator));
            }
        }
        for operator in &touched {
            let own = operator.lock();
            let idle = own.defined.is_none() && own.kernels.is_empty() && own.dependents.is_empty();
            drop(own);
            if idle {
                self.write().remove(&operator.name);
            }
            operator.publish(&edit.shared);
        }
        if all {
            self.publish_all(&edit);
        }
    }

    /// Makes everything that one library has registered another's.
    pub(super) fn adopt(&self, from: LibraryId, to: LibraryId) {
        let mut edit = self.edit();
        for operator in edit.touched.remove(&from).unwrap_or_default().list {
            let mut own = operator.lock();
            if own.is_defined_by(from) {
                own.definer = to;
            }
            own.kernels.iter_mut().filter(|kept| kept.library == from).for_each(|kept| kept.library = to);
            drop(own);
            edit.touch(to, &operator);
        }
        let Shared { fallbacks, backends } = &mut edit.shared;
        fallbacks.iter_mut().filter(|kept| kept.library == from).for_each(|kept| kept.library = to);
        backends.iter_mut().flatten().filter(|info| info.library == from).for_each(|info| info.library = to);
    }

    /// The libraries that have kernels for operators which another one defines, and at what.
    pub(super) fn dependents_of(&self, library: LibraryId) -> Vec<String> {
        let edit = self.edit();
        let mut by = Vec::new();
        for operator in edit.touched.get(&library).into_iter().flat_map(|touched| &touched.list) {
            let own = operator.lock();
            if own.is_defined_by(library) {
                let others = own.kernels.iter().filter(|kept| kept.library != library);
                by.extend(others.map(|kept| {
                    format!("{} ({} of {})", kept.library_name, edit.shared.name_of(kept.key), operator.name)
                }));
            }
        }
        by
    }
}
