package files

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/logs/trace"
)

// MaxRejects is the largest size of a file of rejected rows, in bytes: a packed log of a few
// megabytes can hold gigabytes of them.
const MaxRejects = 64 << 20

// Rejects writes the rows that an import rejected: line, reason, row. The first row creates the
// file. Without a Path rows are dropped. The file ends before the first row that would make it
// larger than MaxRejects; its last line says from which line on rows are missing, and how many.
type Rejects struct {
	To   *Target
	Path string
	Left int64   // rejected rows that are not in the file
	Out  *Output // nil where there is no file

	size int64 // size of the rows added, without quotes, bytes
	from int   // line of the first row that is not in the file
	csv  *csv.Writer
}

// Add writes a row.
func (r *Rejects) Add(row trace.Reject) error {
	if r.Path == "" {
		return nil
	}
	if r.Out == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	r.size += int64(len(row.Text) + len(row.Reason) + len(",,\n") + 10)
	if r.Left > 0 || r.size > MaxRejects {
		if r.Left == 0 {
			r.from = row.Line
		}
		r.Left++
		return nil
	}
	line := []string{strconv.Itoa(row.Line), row.Reason, report.Guard(row.Text)}
	return r.Out.Failed(r.csv.Write(line))
}

func (r *Rejects) begin() error {
	out, err := r.To.Create(r.Path)
	if err != nil {
		return err
	}
	r.Out, r.csv = out, csv.NewWriter(out)
	return r.Out.Failed(r.csv.Write([]string{"line", "reason", "row"}))
}

// Settle completes the file and makes it durable; Publish of Out gives it its name. Where nothing
// was rejected, an existing file is replaced by one without rows: rows of an earlier import must
// not remain beside a new jobs file.
func (r *Rejects) Settle() error {
	if r.Out == nil && r.Path != "" {
		_, err := r.To.Disk.Stat(r.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := r.begin(); err != nil {
			return err
		}
	}
	if r.Out == nil {
		return nil
	}
	if r.Left > 0 {
		if err := r.csv.Write([]string{strconv.Itoa(r.from), r.MissingText(), ""}); err != nil {
			return r.Out.Failed(err)
		}
	}
	r.csv.Flush()
	if err := r.csv.Error(); err != nil {
		return r.Out.Failed(err)
	}
	return r.Out.Settle()
}

// MissingText returns a sentence about the rejected rows that are not in the file; "" where all
// are.
func (r *Rejects) MissingText() string {
	if r.Left == 0 {
		return ""
	}
	return fmt.Sprintf("%s rejected %s from line %s on not listed: the file is full at %d MiB",
		capcli.Grouped(r.Left), capcli.Plural(r.Left, "row"), capcli.Grouped(int64(r.from)), MaxRejects>>20)
}
