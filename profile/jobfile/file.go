// Package jobfile writes jobs files: CSV and JSON lines, packed or not, and Parquet.
// Import reads a job log of any format and writes it as one.
package jobfile

import (
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"capcli"
	"capcli/profile/parquet"
	"capcli/profile/trace"
)

// Endings are those of the jobs files that can be written, for help.
const Endings = ".parquet, .csv, .csv.gz, .csv.zst, .jsonl, .jsonl.gz, .jsonl.zst"

// kinds are the kinds of jobs files, by their ending.
var kinds = []struct {
	ending string
	packs  bool // it may be packed
	write  func(w io.Writer, jobs capcli.Jobs, meta map[string]string) error
}{
	{"parquet", false, writeParquet},
	{"csv", true, func(w io.Writer, jobs capcli.Jobs, _ map[string]string) error { return trace.WriteCSV(w, jobs) }},
	{"jsonl", true, func(w io.Writer, jobs capcli.Jobs, _ map[string]string) error { return trace.WriteJSONL(w, jobs) }},
}

// File is a jobs file to be written.
type File struct {
	Stem string // its name before the ending; "" is stdout
	Meta bool   // it says where it comes from

	packing string // gz, zst or ""
	write   func(w io.Writer, jobs capcli.Jobs, meta map[string]string) error
}

// FileOf tells from the ending of name what to write; "-" is CSV. It fails with a
// *capcli.RequestError for "out" where the ending is none of Endings.
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

func cutFold(s, ending string) (string, bool) {
	if n := len(s) - len(ending); n >= 0 && strings.EqualFold(s[n:], ending) {
		return s[:n], true
	}
	return s, false
}

// Write writes jobs on w. meta goes into the kinds that have a place for it. An
// error in jobs is given back.
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
		return f.write(w, jobs, meta)
	}
	if err := f.write(pack, jobs, meta); err != nil {
		return err
	}
	return pack.Close()
}

func writeParquet(w io.Writer, jobs capcli.Jobs, meta map[string]string) error {
	out, err := parquet.NewJobWriter(w, meta)
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
