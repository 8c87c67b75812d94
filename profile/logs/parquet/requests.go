package parquet

import (
	"errors"
	"io"
	"strconv"

	"capcli"
	"capcli/profile/logs/requests"
)

func init() {
	requests.Formats.Add("parquet", "the columns of csv as Parquet, from DuckDB, pandas or Spark", requests.Format{
		Sniff: IsParquet, Read: readRequests, General: true, Binary: true,
	})
}

// requestRows reads the requests of a file.
type requestRows struct {
	r      *requests.Reader
	rows   *Rows
	places requests.Places // in the header
	picked []int           // indexes of Columns, in the order picked
	heads  []Header
	text   [][]byte // buffers of the cells, in the order picked
}

func readRequests(r *requests.Reader) (err error) {
	defer func() { err = capcli.NameFile(err, r.Input().Name) }()
	at, size, err := holdBody(r.Input(), r.Body(), "check the copy")
	if err != nil {
		return err
	}
	q := &requestRows{r: r}
	if q.rows, err = NewRows(at, size); err != nil {
		return err
	}
	if err := q.pick(); err != nil {
		return err
	}
	for line := 1; ; {
		cells, err := q.rows.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for k := range cells[0].Null {
			if err := q.add(line, cells, k); err != nil {
				return err
			}
			line++
		}
	}
}

func (q *requestRows) pick() error {
	var header []string
	all := q.rows.Headers()
	for _, h := range all {
		header = append(header, h.Name)
	}
	var err error
	if q.places, err = q.r.FindColumns(0, header); err != nil {
		return err
	}
	var at []int
	for i, place := range q.places {
		if place < 0 {
			continue
		}
		at, q.picked, q.heads = append(at, place), append(q.picked, i), append(q.heads, all[place])
		if t := all[place].Type; i == 0 && (t == Instants || t == Locals || t == Dates) {
			q.r.SetUnit(1_000_000)
			if t == Locals {
				q.r.Note("times without a zone were read as UTC")
			}
		}
	}
	q.text = make([][]byte, len(at))
	q.rows.KeepMicros()
	return q.rows.Pick(at...)
}

func (q *requestRows) add(line int, cells []Vector, k int) error {
	var c requests.Record
	for i, column := range q.picked {
		v := &cells[i]
		if v.Null[k] {
			continue
		}
		b := q.text[i][:0]
		switch q.heads[i].Type {
		case Texts:
			b = append(b, v.Texts[k]...)
		case Fractions:
			b = strconv.AppendFloat(b, v.Floats[k], 'f', -1, 64)
		case Dates:
			b = strconv.AppendInt(b, v.Ints[k]*1_000_000, 10)
		default:
			b = strconv.AppendInt(b, v.Ints[k], 10)
		}
		q.text[i], c[column] = b, b
	}
	return q.r.AddRecord(line, &c)
}
