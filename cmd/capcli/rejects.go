package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/profile/trace"
)

// maxRejects bounds the file of rejected rows, in bytes: a packed log of a few
// megabytes can hold gigabytes of them.
const maxRejects = 64 << 20

// rejects writes the rows that an import did not take: line, reason, row. The
// file comes to be with the first of them. Without a path they are passed over.
// The first row that would make the file larger than most ends it: a last line
// says from where on rows are missing, and how many.
type rejects struct {
	e    *env
	path string
	most int64 // 0 is maxRejects
	size int64 // of the rows in the file, without quotes
	left int64 // rows that are not in the file
	from int   // line of the first of them
	out  *files.Output
	csv  *csv.Writer
}

// add writes a row.
func (r *rejects) add(row trace.Reject) error {
	if r.path == "" {
		return nil
	}
	if r.out == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	r.size += int64(len(row.Text) + len(row.Reason) + len(",,\n") + 10)
	if r.left > 0 || r.size > r.limit() {
		if r.left == 0 {
			r.from = row.Line
		}
		r.left++
		return nil
	}
	line := []string{strconv.Itoa(row.Line), row.Reason, report.Guard(row.Text)}
	return r.out.Failed(r.csv.Write(line))
}

func (r *rejects) begin() error {
	out, err := r.e.create(r.path)
	if err != nil {
		return err
	}
	r.out, r.csv = out, csv.NewWriter(out)
	return r.out.Failed(r.csv.Write([]string{"line", "reason", "row"}))
}

// settle makes the file ready. Rows of an earlier import must not stand beside a
// new jobs file, so a file that is there is emptied when nothing was rejected.
func (r *rejects) settle() error {
	if r.out == nil && r.path != "" {
		_, err := r.e.disk.Stat(r.path)
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
	if r.left > 0 {
		if err := r.csv.Write([]string{strconv.Itoa(r.from), r.missingText(), ""}); err != nil {
			return r.out.Failed(err)
		}
	}
	r.csv.Flush()
	if err := r.csv.Error(); err != nil {
		return r.out.Failed(err)
	}
	return r.out.Settle()
}

func (r *rejects) limit() int64 {
	if r.most > 0 {
		return r.most
	}
	return maxRejects
}

// missingText says which rows are not in the file; "" where all are.
func (r *rejects) missingText() string {
	if r.left == 0 {
		return ""
	}
	return fmt.Sprintf("%s rejected %s from line %s on not listed: the file is full at %d MiB",
		capcli.Grouped(r.left), capcli.Plural(r.left, "row"), capcli.Grouped(int64(r.from)), r.limit()>>20)
}
