//! An operator that a node calls, and what of its arguments it may write.

use super::Argument;
use monomorph_core::Result;
use monomorph_core::dispatch::{Dispatcher, OperatorHandle};
use monomorph_core::schema::Schema;
use std::sync::Arc;

/// A call of an operator that is registered.
#[derive(Clone, Debug)]
pub struct Called {
    pub(crate) handle: OperatorHandle,
    /// The arguments that the operator may write, by position.
    pub(crate) writes: Vec<usize>,
    /// For each result the written argument that it is, if it is one.
    pub(crate) returned: Vec<Option<usize>>,
}

impl Called {
    /// The operator of a name, and its schema. Which arguments are written follows once they are known.
    pub(crate) fn find(dispatcher: &Dispatcher, name: &str) -> Result<(Box<Called>, Arc<Schema>)> {
        let handle = dispatcher.find(name)?;
        let schema = handle.schema()?;
        let returned = schema.written_positions().collect();
        Ok((Box::new(Called { handle, writes: Vec::new(), returned }), schema))
    }

    /// Notes which of these arguments the call may write.
    pub(crate) fn note_writes(&mut self, schema: &Schema, args: &[Argument]) {
        let constant = |position: usize| match args.get(position) {
            Some(Argument::Constant(value)) => Some(value),
            _ => None,
        };
        let silent = self.handle.silent().may_write(schema, constant);
        let is_written = |arg: &monomorph_core::schema::Argument| arg.is_mutable() || silent && arg.ty().is_tensor();
        let written = schema.args().enumerate().filter(|(_, arg)| is_written(arg));
        self.writes = written.map(|(position, _)| position).collect();
    }

    /// Whether results may be views of arguments.
    pub(crate) fn gives_views(&self) -> bool {
        let is_view = |schema: Arc<Schema>| schema.returns().iter().any(|result| result.ty().alias().is_some());
        self.handle.silent().view || self.handle.schema().map_or(true, is_view)
    }
}
