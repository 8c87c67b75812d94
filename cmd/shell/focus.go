package shell

import (
	"context"
	"errors"
	"io"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/logs/parquet"
	"capcli/scenarios/money/focus"
)

// OpenText opens a bill or a file of use as CSV text. It unpacks gzip and zstd and converts Parquet
// to CSV. It returns the text, the name of the file and what to close after reading.
func OpenText(e *Env, name string) (io.Reader, string, io.Closer, error) {
	in, done, err := OpenInput(e, name)
	if err != nil {
		return nil, "", nil, err
	}
	r, err := parquet.TextOf(&in)
	if err != nil {
		var fault *capcli.InputError
		if errors.As(err, &fault) && fault.File == "" {
			named := *fault
			named.File = in.Name
			err = &named
		}
		return nil, "", nil, errors.Join(err, done.Close())
	}
	return r, in.Name, done, nil
}

// WriteFocus writes the rows of a bill to path; "" is stdout. Texts that a spreadsheet would take
// for formulas get a quote before them, as in CSV; numbers stay as they are.
func WriteFocus(e *Env, path string, rows func(add func(*focus.Row))) error {
	if path == "" {
		path = "-"
	}
	out, err := e.Create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	w := focus.NewWriter(out, report.Guard)
	rows(w.Write)
	if err := w.Flush(); err != nil {
		return out.Failed(err)
	}
	return out.Commit()
}

// FocusAccount is the BillingAccountId of rows that name no account: FOCUS wants
// one in every row.
const FocusAccount = "main"

// ReadFocus reads a bill in FOCUS. It calls begin with the columns, unless begin is nil, and add
// with each row. It stops at the first error, or when ctx ends.
func ReadFocus(ctx context.Context, e *Env, name string, o focus.Options, begin func(columns []string), add func(*focus.Row) error) (*focus.Report, error) {
	text, file, done, err := OpenText(e, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	r, err := focus.NewReader(file, text, o)
	if err != nil {
		return nil, err
	}
	if begin != nil {
		begin(r.Columns())
	}
	p := NewProgress(e, "rows")
	n := int64(0)
	for row, err := range r.Rows() {
		if err == nil {
			err = add(row)
		}
		if err != nil {
			return nil, err
		}
		n++
		if n%4096 == 0 {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			p.Report(n, 0)
		}
	}
	p.End(n)
	rep := r.Report()
	return &rep, nil
}
