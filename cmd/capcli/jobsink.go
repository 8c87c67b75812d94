package main

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

// jobKinds are the endings of the jobs files that can be written.
const jobKinds = ".parquet, .csv, .csv.gz, .csv.zst, .jsonl, .jsonl.gz, .jsonl.zst"

// splitJobs cuts a file name into what stands before the ending of a jobs file,
// the kind of file and how it is packed ("gz", "zst" or ""). Stdout is CSV.
func splitJobs(name string) (stem, kind, packed string, err error) {
	if name == "-" {
		return "", "csv", "", nil
	}
	rest := name
	for _, p := range []string{"gz", "zst"} {
		if cut, ok := cutFold(rest, "."+p); ok {
			rest, packed = cut, p
		}
	}
	for _, k := range []string{"parquet", "csv", "jsonl"} {
		stem, ok := cutFold(rest, "."+k)
		if ok && (k != "parquet" || packed == "") {
			return stem, k, packed, nil
		}
	}
	return "", "", "", &usageError{
		text: fmt.Sprintf("--out %s: cannot tell from its ending what to write", name),
		hint: "end the name in one of " + jobKinds,
	}
}

func cutFold(s, ending string) (string, bool) {
	if n := len(s) - len(ending); n >= 0 && strings.EqualFold(s[n:], ending) {
		return s[:n], true
	}
	return s, false
}

// writeJobs writes a jobs file of kind on w, packed as packed says. meta goes
// into the kinds that have a place for it. An error in jobs is given back.
func writeJobs(w io.Writer, kind, packed string, jobs capcli.Jobs, meta map[string]string) error {
	var pack io.WriteCloser
	switch packed {
	case "gz":
		pack = gzip.NewWriter(w)
	case "zst":
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("start zstd: %w", err)
		}
		pack = z
	}
	if pack != nil {
		w = pack
	}
	var err error
	switch kind {
	case "parquet":
		err = writeParquet(w, jobs, meta)
	case "jsonl":
		err = trace.WriteJSONL(w, jobs)
	default:
		err = trace.WriteCSV(w, jobs)
	}
	if pack != nil && err == nil {
		err = pack.Close()
	}
	return err
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
