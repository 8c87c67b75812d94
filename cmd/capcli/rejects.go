package main

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"strconv"

	"capcli/cmd/report"
	"capcli/profile/trace"
)

// rejects writes the rows that an import did not take: line, reason, row. The
// file comes to be with the first of them. Without a path they are only counted.
type rejects struct {
	e    *env
	path string
	n    int64
	out  *output
	csv  *csv.Writer
	err  error
}

// add is a trace.Options.Rejects. What goes wrong stays in err.
func (r *rejects) add(row trace.Reject) {
	r.n++
	if r.path == "" || r.err != nil {
		return
	}
	if r.out == nil {
		if r.err = r.begin(); r.err != nil {
			return
		}
	}
	line := []string{strconv.Itoa(row.Line), row.Reason, report.Guard(row.Text)}
	r.err = r.out.failed(r.csv.Write(line))
}

func (r *rejects) begin() error {
	out, err := r.e.create(r.path)
	if err != nil {
		return err
	}
	r.out, r.csv = out, csv.NewWriter(out)
	return r.out.failed(r.csv.Write([]string{"line", "reason", "row"}))
}

// settle makes the file ready. Rows of an earlier import must not stand beside a
// new jobs file, so a file that is there is emptied when nothing was rejected.
func (r *rejects) settle() error {
	if r.out == nil && r.path != "" {
		_, err := r.e.disk.stat(r.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := r.begin(); err != nil {
			return err
		}
	}
	if r.out == nil {
		return nil
	}
	r.csv.Flush()
	if err := r.csv.Error(); err != nil {
		return r.out.failed(err)
	}
	return r.out.settle()
}
