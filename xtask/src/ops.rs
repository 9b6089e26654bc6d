//! The operator table on the terminal. Owns the printing, not the table.

/// Prints every overload of the table.
pub(crate) fn print() -> Result<bool, String> {
    let overloads = monomorph_testsuite::conformance::library::overloads();
    for overload in &overloads {
        println!("{overload}");
    }
    println!("{} overloads", overloads.len());
    Ok(true)
}
