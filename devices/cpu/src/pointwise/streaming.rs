//! Outputs that no cache will keep: bodies store them past the caches, so that their lines need not be read from memory before they
//! are overwritten.

/// An output of more bytes is not expected to stay in the last cache until somebody reads it.
const FAR_BYTES: usize = 32 << 20;

/// Whether an output of so many bytes had better be streamed.
pub(super) fn pays(bytes: usize) -> bool {
    bytes > FAR_BYTES && crate::processor::Maker::current().reads_what_it_overwrites()
}
