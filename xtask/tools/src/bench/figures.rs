//! The figures that the library is held to: cells with bars.

use super::cells::{Cell, Group};

/// A figure: op, dtype, layout, sizes, form, threads, its bar at the best level and at AVX2.
type Figure = (&'static str, &'static str, &'static str, &'static [i64], &'static str, usize, f64, Option<f64>);

const TINY: &[i64] = &[16];
const MEDIUM: &[i64] = &[1 << 16];
const MILLION: &[i64] = &[1 << 20];
const LARGE: &[i64] = &[1 << 24];
const SQUARE: &[i64] = &[4096, 4096];

#[rustfmt::skip]
const FIGURES: &[Figure] = &[
    ("add", "float32", "contiguous", TINY, "functional", 1, 4.0, None),
    ("add", "float32", "contiguous", TINY, "out", 1, 3.5, None),
    ("add", "float32", "contiguous", TINY, "scalar", 1, 10.0, None),
    ("add", "float32", "contiguous", TINY, "static", 1, 2.5, None),
    ("add", "float32", "contiguous", TINY, "prepared", 1, 15.0, None),
    ("add", "float32", "contiguous", TINY, "meta", 1, 4.0, None),
    ("add", "float32", "contiguous", TINY, "boxed", 1, 3.0, None),
    ("add", "float32", "contiguous", MEDIUM, "out", 1, 1.3, Some(1.3)),
    ("add", "int32", "contiguous", MEDIUM, "out", 1, 1.3, Some(1.3)),
    ("add", "bfloat16", "contiguous", MEDIUM, "out", 1, 2.0, Some(1.1)),
    ("add", "float16", "contiguous", MEDIUM, "out", 1, 2.0, Some(1.1)),
    ("add", "float64", "contiguous", MEDIUM, "out", 1, 1.1, Some(1.1)),
    ("add", "float32", "contiguous", LARGE, "out", 1, 1.2, None),
    ("add", "float32", "contiguous", LARGE, "functional", 1, 5.0, None),
    ("add", "float32", "contiguous", MEDIUM, "inplace", 1, 1.5, None),
    ("exp", "float32", "contiguous", MEDIUM, "out", 1, 4.0, Some(2.0)),
    ("log", "float32", "contiguous", MEDIUM, "out", 1, 3.0, Some(1.5)),
    ("tanh", "float32", "contiguous", MEDIUM, "out", 1, 6.0, Some(3.0)),
    ("erf", "float32", "contiguous", MEDIUM, "out", 1, 3.0, Some(1.5)),
    ("exp", "float64", "contiguous", MEDIUM, "out", 1, 2.5, Some(1.3)),
    ("gelu", "float32", "contiguous", MEDIUM, "out", 1, 1.0, None),
    ("gelu", "float32", "contiguous", LARGE, "out", 1, 1.4, None),
    ("add", "float32", "transposed", SQUARE, "out", 1, 6.0, None),
    ("add", "float32", "row-broadcast", SQUARE, "out", 1, 1.0, None),
    ("sum", "float32", "contiguous", LARGE, "all", 1, 1.0, None),
    ("sum", "float32", "contiguous", SQUARE, "dim0", 1, 2.5, None),
    ("sum", "float32", "contiguous", SQUARE, "dim1", 1, 1.0, None),
    ("sum", "float32", "transposed", SQUARE, "dim1", 1, 1.0, None),
    ("fused_relu_mul_add", "float32", "contiguous", LARGE, "out", 1, 2.5, None),
    ("add", "float32", "contiguous", LARGE, "out", 2, 1.0, None),
    ("exp", "float32", "contiguous", LARGE, "out", 2, 1.0, None),
    ("sum", "float32", "contiguous", LARGE, "all", 2, 1.0, None),
];

/// A figure of a call by name: op, dtype, sizes, the words of its arguments, its bar at every level.
type NamedFigure = (&'static str, &'static str, &'static [i64], &'static str, f64);

/// Rows of a vocabulary of embeddings.
const ROWS: &[i64] = &[30522, 384];

#[rustfmt::skip]
const NAMED: &[NamedFigure] = &[
    ("var.correction", "float32", LARGE, "t,none,none,false", 1.5),
    ("var.correction", "float32", SQUARE, "t,l=0,none,false", 1.5),
    ("var.correction", "float32", SQUARE, "t,l=1,none,false", 1.5),
    ("std.correction", "float32", LARGE, "t,none,none,false", 1.5),
    ("std.correction", "float32", SQUARE, "t,l=0,none,false", 1.5),
    ("std.correction", "float32", SQUARE, "t,l=1,none,false", 1.5),
    ("prod.dim_int", "float32", SQUARE, "u,0,false,none", 1.2),
    ("prod.dim_int", "float32", SQUARE, "u,1,false,none", 1.2),
    ("linalg_vector_norm", "float32", SQUARE, "t,2,l=0,false,none", 1.2),
    ("linalg_vector_norm", "float32", SQUARE, "t,2,l=1,false,none", 1.2),
    ("logsumexp", "float32", SQUARE, "t,l=0,false", 1.2),
    ("logsumexp", "float32", SQUARE, "t,l=1,false", 1.2),
    ("all", "bool", LARGE, "p", 1.2),
    ("any", "bool", LARGE, "t", 1.2),
    ("max.dim", "float32", SQUARE, "t,0,false", 1.5),
    ("max.dim", "float32", SQUARE, "t,1,false", 1.5),
    ("argmin", "float32", SQUARE, "t,0,false", 1.5),
    ("argmin", "float32", SQUARE, "t,1,false", 1.5),
    ("cumsum", "float32", LARGE, "t,0,none", 1.2),
    ("cumsum", "float32", SQUARE, "t,0,none", 1.2),
    ("cumsum", "float32", SQUARE, "t,1,none", 1.2),
    ("sort", "float32", MILLION, "t,0,false", 1.5),
    ("sort", "int64", MILLION, "i=4294967296,0,false", 1.5),
    ("sort", "float32", &[4096, 1024], "t,1,false", 1.5),
    ("topk", "float32", MILLION, "t,10,0,true,true", 1.5),
    ("topk", "float32", SQUARE, "t,10,1,true,true", 1.5),
    ("_unique2", "int64", MILLION, "i=1000000,true,false,false", 1.5),
    ("searchsorted.Tensor", "float32", MILLION, "r=65536,t,false,false,none,none", 1.5),
    ("histc", "float32", LARGE, "t,100,0,0", 1.5),
    ("bincount", "int64", LARGE, "i=1000,none,0", 1.5),
    ("index_select", "float32", ROWS, "t,0,i=30522@8192", 1.2),
    ("embedding", "float32", ROWS, "t,i=30522@8192,-1,false,false", 1.2),
    ("gather", "float32", SQUARE, "t,1,i=4096,false", 1.2),
    ("gather", "float32", SQUARE, "t,0,i=4096,false", 1.2),
    ("scatter_add", "float32", SQUARE, "t,1,i=4096,t", 1.2),
    ("scatter_add", "float32", SQUARE, "t,0,i=4096,t", 1.2),
    ("index.Tensor", "float32", &[1 << 22], "t,[i=4194304@1048576]", 1.5),
    ("index.Tensor", "float32", &[2048, 2048], "t,[i=2048@1048576;i=2048@1048576]", 1.5),
    ("index_put", "float32", &[1 << 22], "t,[i=4194304@1048576],t@1048576,true", 1.5),
    ("nonzero", "bool", LARGE, "t", 1.5),
    ("masked_select", "float32", LARGE, "t,b", 1.5),
    ("flip", "float32", SQUARE, "t,l=0", 1.2),
    ("flip", "float32", SQUARE, "t,l=1", 1.2),
    ("roll", "float32", SQUARE, "t,l=100,l=0", 1.2),
    ("roll", "float32", SQUARE, "t,l=100,l=1", 1.2),
    ("tril", "float32", SQUARE, "t,0", 1.2),
    ("repeat", "float32", &[2048, 2048], "t,l=2+2", 1.2),
    ("constant_pad_nd", "float32", SQUARE, "t,l=1+1+1+1,0.5", 1.2),
];

/// What models are made of: products, convolutions, windows, rows, attention, recurrent cells.
#[rustfmt::skip]
const MODELS: &[NamedFigure] = &[
    ("mm", "float32", &[8, 8], "t,t", 3.0),
    ("mm", "float32", &[16, 16], "t,t", 3.0),
    ("mm", "float32", &[32, 32], "t,t", 1.5),
    ("mm", "float32", &[64, 64], "t,t", 1.2),
    ("mm", "float32", &[256, 256], "t,t", 0.97),
    ("mm", "float32", &[512, 512], "t,t", 0.97),
    ("mm", "float32", &[1024, 1024], "t,t", 0.97),
    ("mm", "float64", &[512, 512], "t,t", 0.97),
    ("mm", "complex64", &[512, 512], "t,t", 0.97),
    ("mm", "bfloat16", &[512, 512], "t,t", 10.0),
    ("mm", "float16", &[512, 512], "t,t", 10.0),
    ("mm", "float32", SQUARE, "t@1x4096,t", 1.1),
    ("mm", "float32", SQUARE, "t@8x4096,t", 1.1),
    ("linear", "float32", SQUARE, "t@1x4096,t,none", 1.1),
    ("linear", "float32", SQUARE, "t@8x4096,t,none", 1.1),
    ("mv", "float32", SQUARE, "t,t@4096", 1.1),
    ("bmm", "float32", &[64, 128, 64], "t,t@64x64x128", 1.1),
    ("conv2d", "float32", &[1, 3, 224, 224], "t,t@64x3x7x7,none,l=2+2,l=3+3,l=1+1,1", 0.9),
    ("conv2d", "float32", &[1, 64, 56, 56], "t,t@64x64x3x3,none,l=1+1,l=1+1,l=1+1,1", 0.9),
    ("conv2d", "float32", &[1, 128, 28, 28], "t,t@128x128x3x3,none,l=1+1,l=1+1,l=1+1,1", 0.9),
    ("conv2d", "float32", &[1, 256, 14, 14], "t,t@256x256x3x3,none,l=1+1,l=1+1,l=1+1,1", 0.9),
    ("conv2d", "float32", &[1, 512, 7, 7], "t,t@512x512x3x3,none,l=1+1,l=1+1,l=1+1,1", 0.9),
    ("conv2d", "float32", &[1, 64, 56, 56], "t,t@256x64x1x1,none,l=1+1,l=0+0,l=1+1,1", 0.9),
    ("conv2d", "float32", &[1, 96, 112, 112], "t,t@96x1x3x3,none,l=2+2,l=1+1,l=1+1,96", 1.5),
    ("conv2d", "float32", &[1, 384, 14, 14], "t,t@384x1x3x3,none,l=1+1,l=1+1,l=1+1,384", 1.5),
    ("conv2d", "float32", &[1, 120, 28, 28], "t,t@120x1x5x5,none,l=1+1,l=2+2,l=1+1,120", 1.5),
    ("conv1d", "float32", &[1, 1, 16000], "t,t@512x1x10,none,l=5,l=0,l=1,1", 1.0),
    ("conv1d", "float32", &[1, 512, 3199], "t,t@512x512x3,none,l=2,l=0,l=1,1", 1.0),
    ("conv_transpose2d.input", "float32", &[1, 64, 56, 56], "t,t@64x32x2x2,none,l=2+2,l=0+0,l=0+0,1,l=1+1", 1.0),
    ("softmax.int", "float32", &[4096, 128], "t,1,none", 1.5),
    ("softmax.int", "float32", &[4096, 1024], "t,1,none", 1.5),
    ("softmax.int", "float32", &[4096, 32768], "t,1,none", 1.5),
    ("softmax.int", "float32", &[4096, 1024], "t,0,none", 1.5),
    ("log_softmax.int", "float32", &[4096, 1024], "t,1,none", 1.5),
    ("layer_norm", "float32", &[4096, 384], "t,l=384,t@384,t@384,1e-5,true", 1.5),
    ("layer_norm", "float32", SQUARE, "t,l=4096,t@4096,t@4096,1e-5,true", 1.5),
    ("rms_norm", "float32", &[4096, 384], "t,l=384,t@384,1e-6", 1.5),
    ("rms_norm", "float32", SQUARE, "t,l=4096,t@4096,1e-6", 1.5),
    ("batch_norm", "float32", &[1, 64, 56, 56], "t,t@64,t@64,t@64,p@64,false,0.1,1e-5,true", 1.5),
    ("scaled_dot_product_attention", "float32", &[1, 12, 128, 32], "t,t,t,none,0.0,false,none,false", 1.2),
    ("scaled_dot_product_attention", "float32", &[1, 8, 1024, 64], "t,t,t,none,0.0,false,none,false", 1.2),
    ("scaled_dot_product_attention", "float32", &[1, 8, 1024, 64], "t,t,t,none,0.0,true,none,false", 1.2),
    ("max_pool2d", "float32", &[1, 64, 112, 112], "t,l=3+3,l=2+2,l=1+1,l=1+1,false", 1.2),
    ("avg_pool2d", "float32", &[1, 64, 112, 112], "t,l=2+2,l=2+2,l=0+0,false,true,none", 1.2),
    ("upsample_bilinear2d", "float32", &[1, 3, 112, 112], "t,l=224+224,false,none,none", 1.2),
    ("grid_sampler_2d", "float32", &[1, 3, 224, 224], "t,u@1x224x224x2,0,0,false", 1.2),
    ("lstm_cell", "float32", &[1, 128], "t,[t@1x128;t@1x128],w@512x128,w@512x128,w@512,w@512", 2.0),
    ("lstm.input", "float32", &[100, 1, 128],
        "t,[t@1x1x128;t@1x1x128],[w@512x128;w@512x128;w@512;w@512],true,1,0.0,false,false,false", 2.0),
    ("_fft_r2c", "float32", &[1, 512], "t,l=1,0,true", 0.9),
    ("_fft_r2c", "float32", &[100, 400], "t,l=1,0,true", 0.9),
    ("_fft_r2c", "float32", &[4096, 1024], "t,l=1,0,true", 0.9),
    ("_fft_c2c", "complex64", &[1024, 1024], "t,l=1,0,true", 0.9),
    ("_fft_c2c", "complex64", &[1024, 1024], "t,l=0+1,0,true", 0.9),
    ("_fft_c2r", "complex64", &[4096, 513], "t,l=1,2,1024", 0.9),
    ("cross_entropy_loss", "float32", &[4096, 32000], "t,i=32000@4096,none,1,-100,0.0", 1.2),
];

/// What a call by name on two threads is held to.
const TWO_THREADS: f64 = 0.9;

/// Every figure, in the order in which they are timed.
pub(super) fn all() -> Vec<Cell> {
    let figure = |&(op, dtype, layout, sizes, form, threads, bar, bar_avx2): &Figure| Cell {
        group: Group::Figures,
        op: op.to_owned(),
        dtype,
        layout,
        sizes: sizes.to_vec(),
        form: form.to_owned(),
        threads,
        bar: Some(bar),
        bar_avx2,
    };
    let named = |threads: usize| {
        NAMED.iter().chain(MODELS).map(move |&(op, dtype, sizes, words, bar)| {
            let bar = if threads == 1 { bar } else { TWO_THREADS };
            let (op, sizes, form) = (op.to_owned(), sizes.to_vec(), format!("named:{words}"));
            let (bar, bar_avx2) = (Some(bar), Some(bar));
            Cell { group: Group::Figures, op, dtype, layout: "contiguous", sizes, form, threads, bar, bar_avx2 }
        })
    };
    FIGURES.iter().map(figure).chain(named(1)).chain(named(2)).collect()
}
