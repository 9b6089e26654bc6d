//! Streams, events, and which device and stream a thread's work goes to. Owns what is current; what waits for what is
//! `gpu`'s.

use crate::driver::{Context, CudaError, Event as Point, Queue};
use crate::gpu::gpu;
use monomorph_core::Result;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;

thread_local! {
    static DEVICE: Cell<u8> = const { Cell::new(0) };
    /// The chosen stream of each device that has one.
    static STREAMS: RefCell<Vec<(u8, Stream)>> = const { RefCell::new(Vec::new()) };
}

/// The device that is current on this thread.
pub(crate) fn current() -> u8 {
    DEVICE.get()
}

/// Makes a device current, and gives the former one.
pub(crate) fn make_current(index: u8) -> u8 {
    DEVICE.replace(index)
}

/// Work that is done in order, beside that of other streams; it waits for no default stream. Clones are the same
/// stream.
///
/// Calls on tensors go to the stream that is [entered](Stream::enter), or else to the device's own. What a call reads
/// is waited for wherever it was written, so results never depend on streams.
///
/// ```no_run
/// use monomorph_cuda::Stream;
///
/// let stream = Stream::new(0)?;
/// {
///     let _entered = stream.enter();
///     // Calls of this thread go to the stream.
/// }
/// stream.synchronize()?;
/// # Ok::<(), monomorph_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stream(Arc<Queue>);

impl PartialEq for Stream {
    fn eq(&self, other: &Stream) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stream {}

impl Stream {
    /// A new stream of device `index`.
    ///
    /// # Errors
    /// No such device, and what the driver says.
    pub fn new(index: u8) -> Result<Stream> {
        gpu(index).and_then(|gpu| Stream::of(gpu.context())).map_err(|error| error.on(index))
    }

    pub(crate) fn of(context: &Arc<Context>) -> std::result::Result<Stream, CudaError> {
        Ok(Stream(Arc::new(Queue::new(context)?)))
    }

    /// The stream that calls of this thread on device `index` go to.
    ///
    /// # Errors
    /// As for [`new`](Stream::new).
    pub fn current(index: u8) -> Result<Stream> {
        gpu(index).map(|gpu| gpu.stream()).map_err(|error| error.on(index))
    }

    /// The entered stream of a device.
    pub(crate) fn chosen(index: u8) -> Option<Stream> {
        STREAMS.with_borrow(|all| all.iter().find(|(of, _)| *of == index).map(|(_, stream)| stream.clone()))
    }

    /// Sends this thread's work on the device to this stream, until the guard is dropped.
    pub fn enter(&self) -> StreamGuard {
        let index = self.index();
        let former = Stream::chosen(index);
        choose(index, Some(self.clone()));
        StreamGuard { index, former, thread: PhantomData }
    }

    /// The same for who has a device in mind: its index.
    ///
    /// # Errors
    /// The stream is of another device.
    pub fn enter_on(&self, index: u8) -> Result<StreamGuard> {
        let own = self.index();
        if own == index { Ok(self.enter()) } else { Err(CudaError::OtherStream { own }.on(index)) }
    }

    /// What is put on this stream from now on waits for the event, which may be of another device.
    ///
    /// # Errors
    /// What the driver says.
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.0.wait(&event.point).map_err(|error| error.on(self.index()))
    }

    /// Which device it is of.
    pub fn index(&self) -> u8 {
        self.0.context().index()
    }

    /// Waits until everything on it is done.
    ///
    /// # Errors
    /// What the driver says, also of work that went wrong.
    pub fn synchronize(&self) -> Result<()> {
        self.0.synchronize().map_err(|error| error.on(self.index()))
    }

    /// Whether everything on it is done.
    ///
    /// # Errors
    /// As for [`synchronize`](Stream::synchronize).
    pub fn is_done(&self) -> Result<bool> {
        self.0.is_done().map_err(|error| error.on(self.index()))
    }

    /// What comes behind this call on this stream waits for what is on the other now.
    pub(crate) fn wait(&self, other: &Stream) -> std::result::Result<(), CudaError> {
        if self.outlives(other) {
            return Ok(());
        }
        let point = Point::after(&other.0)?;
        self.0.wait(&point)
    }

    /// Whether the other is of a device that has broken, where nothing runs any more, and this one is not.
    pub(crate) fn outlives(&self, other: &Stream) -> bool {
        other.index() != self.index() && other.0.context().is_broken()
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.0
    }
}

fn choose(index: u8, stream: Option<Stream>) {
    STREAMS.with_borrow_mut(|all| {
        all.retain(|(of, _)| *of != index);
        all.extend(stream.map(|stream| (index, stream)));
    });
}

/// Makes the former stream current again when dropped.
#[derive(Debug)]
#[must_use = "the stream is current as long as the guard lives"]
pub struct StreamGuard {
    index: u8,
    former: Option<Stream>,
    /// What is current is so on one thread.
    thread: PhantomData<*const ()>,
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        choose(self.index, self.former.take());
    }
}

/// A point in a stream: everything that was on it when the event was made.
#[derive(Debug)]
pub struct Event {
    point: Point,
    index: u8,
}

impl Event {
    /// The point behind what is on the stream now.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record(stream: &Stream) -> Result<Event> {
        let index = stream.index();
        Point::after(&stream.0).map(|point| Event { point, index }).map_err(|error| error.on(index))
    }

    /// Waits until the stream has come to it.
    ///
    /// # Errors
    /// What the driver says, also of work that went wrong.
    pub fn synchronize(&self) -> Result<()> {
        self.point.synchronize().map_err(|error| error.on(self.index))
    }

    /// Whether the stream has come to it.
    ///
    /// # Errors
    /// As for [`synchronize`](Event::synchronize).
    pub fn is_done(&self) -> Result<bool> {
        self.point.is_done().map_err(|error| error.on(self.index))
    }
}
