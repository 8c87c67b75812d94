// Package jobfile writes jobs files: CSV and JSON lines, compressed or not, and Parquet.
// Import reads a job log of any format and writes it as a jobs file.
package jobfile

import (
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"capcli"
	"capcli/profile/logs/parquet"
	"capcli/profile/logs/trace"
)

// Endings are the file name endings of the jobs files that can be written, for help texts.
const Endings = ".parquet, .csv, .csv.gz, .csv.zst, .jsonl, .jsonl.gz, .jsonl.zst"

// kinds are the kinds of jobs files, by their file name ending.
var kinds = []struct {
	ending string
	packs  bool // may be compressed
	write  func(w io.Writer, jobs capcli.Jobs, extra trace.Extra, meta map[string]string) error
}{
	{"parquet", false, writeParquet},
	{"csv", true, func(w io.Writer, jobs capcli.Jobs, extra trace.Extra, _ map[string]string) error {
		return trace.WriteCSV(w, jobs, extra)
	}},
	{"jsonl", true, func(w io.Writer, jobs capcli.Jobs, _ trace.Extra, _ map[string]string) error {
		return trace.WriteJSONL(w, jobs)
	}},
}

// File says what kind of jobs file to write.
type File struct {
	Stem string // name of the file without its ending; "" for stdout
	Meta bool   // the kind stores metadata, such as the source of the jobs

	Extra trace.Extra // columns that not every jobs file has

	packing string // gz, zst or "" for no compression
	write   func(w io.Writer, jobs capcli.Jobs, extra trace.Extra, meta map[string]string) error
}

// FileOf returns the kind of jobs file for the ending of name; "-" is CSV. It fails with a
// *capcli.RequestError for "out" where the ending is not one of Endings.
func FileOf(name string) (File, error) {
	if name == "-" {
		return File{write: kinds[1].write}, nil
	}
	rest, packing := name, ""
	for _, p := range []string{"gz", "zst"} {
		if cut, ok := cutFold(rest, "."+p); ok {
			rest, packing = cut, p
		}
	}
	for _, k := range kinds {
		if stem, ok := cutFold(rest, "."+k.ending); ok && (k.packs || packing == "") {
			return File{Stem: stem, Meta: !k.packs, packing: packing, write: k.write}, nil
		}
	}
	return File{}, &capcli.RequestError{
		Field: "out", Text: fmt.Sprintf("%s: cannot tell from its ending what to write", name),
		Hint: "end the name in one of " + Endings,
	}
}

// cutFold returns s without ending, which it compares ignoring case, and whether s had it.
func cutFold(s, ending string) (string, bool) {
	if n := len(s) - len(ending); n >= 0 && strings.EqualFold(s[n:], ending) {
		return s[:n], true
	}
	return s, false
}

// Write writes jobs to w, with meta where the kind stores metadata. It fails with the first
// error from jobs or w, and with trace.ErrEligible or trace.ErrTags where the file needs a
// column that it does not have.
func (f *File) Write(w io.Writer, jobs capcli.Jobs, meta map[string]string) error {
	var pack io.WriteCloser
	switch f.packing {
	case "gz":
		pack = gzip.NewWriter(w)
	case "zst":
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("start zstd: %w", err)
		}
		pack = z
	}
	if pack == nil {
		return f.write(w, jobs, f.Extra, meta)
	}
	if err := f.write(pack, jobs, f.Extra, meta); err != nil {
		return err
	}
	return pack.Close()
}

func writeParquet(w io.Writer, jobs capcli.Jobs, extra trace.Extra, meta map[string]string) error {
	out, err := parquet.NewJobWriter(w, meta, extra)
	if err != nil {
		return err
	}
	for job, err := range jobs {
		if err != nil {
			return err
		}
		if err := out.Write(job); err != nil {
			return err
		}
	}
	return out.Close()
}
