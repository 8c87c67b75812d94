package requests

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"
)

// WriteCSV writes a trace in our own columns, which every command reads. Columns of which the trace knows
// nothing are left out.
func (t *Trace) WriteCSV(w io.Writer) error {
	has := [numColumns]bool{colArrival: true, colIn: true, colOut: true}
	for i := range t.Rows {
		r := &t.Rows[i]
		has[colCached] = has[colCached] || r.Cached > 0
		has[colPrefix] = has[colPrefix] || r.Prefix > 0
		has[colUser] = has[colUser] || r.User > 0
		has[colModel] = has[colModel] || r.Model > 0
	}
	buf := bufio.NewWriter(w)
	c := csv.NewWriter(buf)
	row := make([]string, 0, numColumns)
	put := func(cells [numColumns]string) {
		row = row[:0]
		for i, cell := range cells {
			if has[i] {
				row = append(row, cell)
			}
		}
		_ = c.Write(row) // its error comes from Error
	}
	put([numColumns]string(Columns))
	for i := range t.Rows {
		r := &t.Rows[i]
		prefix := ""
		if r.Prefix > 0 {
			prefix = strconv.FormatInt(r.Prefix, 10)
		}
		put([numColumns]string{
			strconv.FormatInt(r.Arrival, 10), strconv.FormatInt(r.In, 10), strconv.FormatInt(r.Out, 10), strconv.FormatInt(r.Cached, 10),
			prefix, t.Users[r.User], t.Models[r.Model],
		})
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return buf.Flush()
}
