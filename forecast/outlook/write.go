package outlook

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"capcli"
	"capcli/profile/logs/parquet"
)

// CheckFutures returns an error where a value of a future is not finite.
func (r *Result) CheckFutures() error {
	for k := range r.Series {
		for _, path := range r.Series[k].Futures {
			for i, v := range path {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%s: step %d of a future is not finite", r.Series[k].ID, i+1)
				}
			}
		}
	}
	return nil
}

// eachFuture calls put with each value of each future: v of series s, path k, step i.
func (r *Result) eachFuture(put func(s *Series, k, i int, v float64) error) error {
	for j := range r.Series {
		s := &r.Series[j]
		for k, path := range s.Futures {
			for i, v := range path {
				if err := put(s, k, i, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// eventColumn begins the column of an event in a file of futures: 1 where it happens in the future, else 0.
const eventColumn = "event:"

// WriteFuturesCSV writes the futures in long form: unique_id, path, ds, y, and a column for each event that
// may not happen. guard escapes an id for spreadsheets.
func (r *Result) WriteFuturesCSV(out io.Writer, guard func(string) string) error {
	w := csv.NewWriter(out)
	head := []string{"unique_id", "path", "ds", "y"}
	for _, o := range r.outcomes {
		head = append(head, eventColumn+o.name)
	}
	if err := w.Write(head); err != nil {
		return err
	}
	row := make([]string, len(head))
	err := r.eachFuture(func(s *Series, k, i int, v float64) error {
		row[0], row[1], row[2], row[3] = guard(s.ID), strconv.Itoa(k), s.DS[i], strconv.FormatFloat(v, 'f', -1, 64)
		for n, o := range r.outcomes {
			row[4+n] = strconv.FormatInt(o.number(k), 10)
		}
		return w.Write(row)
	})
	if err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// WriteFuturesParquet writes the futures as Parquet, with the columns of WriteFuturesCSV.
func (r *Result) WriteFuturesParquet(out io.Writer) error {
	columns := []parquet.Column{
		{Name: "unique_id", Kind: parquet.Text, Repeats: true}, {Name: "path", Kind: parquet.Int32}, r.stampColumn(), {Name: "y", Kind: parquet.Float64},
	}
	for _, o := range r.outcomes {
		columns = append(columns, parquet.Column{Name: eventColumn + o.name, Kind: parquet.Int32})
	}
	t, err := parquet.NewTable(out, columns, map[string]string{"schema": "forecast_paths/v1"})
	if err != nil {
		return err
	}
	err = r.eachFuture(func(s *Series, k, i int, v float64) error {
		t.Text(0, s.ID)
		t.Int(1, int64(k))
		r.putStamp(t, 2, s, i)
		t.Float(3, v)
		for n, o := range r.outcomes {
			t.Int(4+n, o.number(k))
		}
		return t.Next()
	})
	if err != nil {
		return err
	}
	return t.Close()
}

// number returns 1 where the event happens in a future, else 0.
func (o *outcome) number(future int) int64 {
	if o.happens[future] {
		return 1
	}
	return 0
}

// WriteParquet writes the forecast in long form: a row for each series and step.
func (r *Result) WriteParquet(out io.Writer) error {
	columns := []parquet.Column{{Name: "unique_id", Kind: parquet.Text, Repeats: true}, r.stampColumn(), {Name: "model", Kind: parquet.Text, Repeats: true}, {Name: "mean", Kind: parquet.Float64}}
	for _, level := range r.Levels {
		columns = append(columns, parquet.Column{Name: "lo-" + LevelText(level), Kind: parquet.Float64}, parquet.Column{Name: "hi-" + LevelText(level), Kind: parquet.Float64})
	}
	t, err := parquet.NewTable(out, columns, map[string]string{"schema": "forecast/v1"})
	if err != nil {
		return err
	}
	for j := range r.Series {
		s := &r.Series[j]
		for i, mean := range s.Mean {
			t.Text(0, s.ID)
			r.putStamp(t, 1, s, i)
			t.Text(2, s.Model)
			t.Float(3, mean)
			for k, iv := range s.Intervals {
				t.Float(4+2*k, iv.Lo[i])
				t.Float(5+2*k, iv.Hi[i])
			}
			if err := t.Next(); err != nil {
				return err
			}
		}
	}
	return t.Close()
}

// stampColumn returns the column of stamps: instants, or whole numbers.
func (r *Result) stampColumn() parquet.Column {
	if r.histories.Clock {
		return parquet.Column{Name: "ds", Kind: parquet.Instant}
	}
	return parquet.Column{Name: "ds", Kind: parquet.Int64}
}

// putStamp writes the stamp of step i ahead of s.
func (r *Result) putStamp(t *parquet.Table, col int, s *Series, i int) {
	stamp := s.Source.Stamp(s.History.Values + i)
	if r.histories.Clock {
		t.Time(col, capcli.Time(stamp))
		return
	}
	t.Int(col, stamp)
}
