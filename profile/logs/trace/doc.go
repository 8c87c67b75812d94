// Package trace reads job logs as streams of capcli.Job. Its memory does not grow with
// the log, except for about twenty bytes for each job id that does not follow its
// predecessor by one (idTable). For a sacct dump the package holds the last 65,536 jobs,
// because further rows of them may follow.
//
// Open makes a Reader. It decompresses gzip and zstd, detects the format from the first
// bytes when the caller does not name it, and enforces limits on the input. Jobs yields
// the jobs in the order of the file. Report then says what was read, kept, folded,
// rejected and assumed, and why. Every row is counted exactly once:
// Rows = Kept + Folded + Rejected.
//
// A row that cannot be a job (a negative number, an end before its start) is rejected
// with a reason, and reading continues. A file that cannot be a log (no header,
// truncated, not text, a line over 1 MiB) ends the stream with a *capcli.InputError.
//
// A new format needs one new file, a Format added to Formats in its init, and a test file
// with a sample and a fuzz target, as in own_format_test.go. TestFormats finds the format,
// and fails if the sample or the fuzz target is missing. A format that is a table of jobs
// declares its columns with addTable.
package trace
