package requests

import (
	"bytes"
	"fmt"

	"capcli"
)

// separators are the separators that a header may use.
const separators = ",\t;|"

// headerOf returns the names in the first line of head that is neither blank nor a comment; nil for one
// name, and for JSON.
func headerOf(head []byte) []string {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			if line[0] == '{' || line[0] == '[' {
				return nil
			}
			f := capcli.Fields{Separator: capcli.FindSeparator(line, separators)}
			if f.Split(line) == capcli.QuoteOpen || len(f.Row) < 2 {
				return nil
			}
			return namesOf(f.Row)
		}
		head = rest
	}
	return nil
}

func namesOf(row [][]byte) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = string(bytes.TrimSpace(cell))
	}
	return out
}

// hasColumns reports whether the header in head has all of names, exactly.
func hasColumns(head []byte, names ...string) bool {
	header := headerOf(head)
	for _, n := range names {
		if capcli.FindColumn(header, n) < 0 {
			return false
		}
	}
	return true
}

// readTable reads delimited text under a header and calls each with the cells of every row.
func (r *Reader) readTable(begin func(line int, header []string) error, each func(line int, cells [][]byte) error) error {
	head, n, ok := r.nextLine()
	if !ok {
		return nil
	}
	f := capcli.Fields{Separator: capcli.FindSeparator(head, separators)}
	if f.Split(head) == capcli.QuoteOpen || len(f.Row) > capcli.MaxColumns {
		return r.fault(n, "", fmt.Sprintf("expected a header with at most %d columns", capcli.MaxColumns), "check the separator and the quotes")
	}
	header := namesOf(f.Row)
	if err := begin(n, header); err != nil {
		return err
	}
	for {
		line, n, ok := r.nextLine()
		if !ok {
			return nil
		}
		var err error
		switch fault := f.SplitRecord(r.text, line); {
		case fault == capcli.QuoteOpen && len(f.Raw) > capcli.MaxLine:
			return nil // the text ended with the error
		case fault == capcli.QuoteOpen:
			err = r.RejectRow(n, "", "a quote is not closed", "")
		case len(f.Row) != len(header):
			err = r.RejectRow(n, "", fmt.Sprintf("expected %d columns as in the header, found %d", len(header), len(f.Row)), "check the separator; a file that was cut short ends so too")
		default:
			err = each(n, f.Row)
		}
		if err != nil {
			return err
		}
	}
}

// readColumns reads delimited text whose columns are found by name.
func (r *Reader) readColumns() error {
	var p Places
	var c Record
	return r.readTable(func(line int, header []string) (err error) {
		p, err = r.FindColumns(line, header)
		return err
	}, func(line int, cells [][]byte) error {
		for i, at := range p {
			if at >= 0 {
				c[i] = cells[at]
			}
		}
		return r.AddRecord(line, &c)
	})
}
