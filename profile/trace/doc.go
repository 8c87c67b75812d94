// Package trace reads job logs as streams of capcli.Job, in memory that does
// not grow with the log, but for some twenty bytes for each job id that does
// not count up from the one before it (see IDs). A sacct dump holds back its
// last 65,536 jobs, of which further rows may come.
//
// A reader is made by Open, which undoes gzip and zstd, tells the format from
// the first bytes when it is not named, and holds the input to limits. Jobs
// gives the jobs in the order of the file; Report says afterwards what was
// read, kept, folded, rejected and assumed, and why. Every row is counted
// exactly once: Rows = Kept + Folded + Rejected.
//
// A row that cannot be a job (a negative number, an end before its start) is
// rejected with a reason and reading goes on. A file that cannot be a log (no
// header, cut short, not text, a line over 1 MiB) ends the stream with a
// *capcli.InputError.
//
// A new format is one new file, a Format added to Formats in its init, and a test file
// with a sample and a fuzz target, as in own_format_test.go. TestFormats finds the format,
// and fails where the sample or the fuzz target is missing. A format that is a table of
// jobs says what its columns are (addTable).
package trace
