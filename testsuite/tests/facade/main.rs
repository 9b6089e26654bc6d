//! The facade against naive twins: every form of every operator of the table.

mod aliasing;
mod boxed;
mod c_text;
mod complete;
mod composites;
mod corners;
mod declared;
mod derivatives;
mod factories;
mod few;
mod fused;
mod gamma;
mod halves;
mod handles;
mod hostile_geometry;
mod joined;
mod meta;
mod pointwise;
mod powers;
mod reductions;
mod registry;
mod scans;
mod spans;
mod storages;
mod unwritable_outputs;
mod views;
