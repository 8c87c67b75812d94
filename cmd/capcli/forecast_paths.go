package main

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/forecast/outlook"
	"capcli/profile/parquet"
)

// checkOut refuses a file to write that is one of those that are read, and one for
// futures whose ending says nothing, before any work is done.
func (o *forecastOptions) checkOut(e *env, args []string) error {
	if o.out == "" || o.out == "-" {
		return nil
	}
	low := strings.ToLower(o.out)
	if o.ask.Paths > 0 && !strings.HasSuffix(low, ".csv") && !strings.HasSuffix(low, ".parquet") {
		return &usageError{text: fmt.Sprintf("--out %s: cannot tell from its ending what to write", o.out), hint: "end the name in .csv or .parquet"}
	}
	r := &o.history.ask
	for _, name := range append(slices.Clone(args), o.events, r.Past.File, r.Cap.File, r.Pending) {
		if name != "" && name != "-" && sameFile(e, name, o.out) {
			return &usageError{text: fmt.Sprintf("--out %s is a file that is read: it would be overwritten", o.out), hint: "name another file"}
		}
	}
	return nil
}

// writePaths writes the possible futures in long form: unique_id, path, ds, y.
func (r *forecastResult) writePaths(e *env, name string) error {
	low := strings.ToLower(name)
	for k := range r.Series {
		for _, p := range r.Series[k].Futures {
			for i, v := range p {
				if !report.Finite(v) {
					return fmt.Errorf("%s: step %d of a future is not finite", r.Series[k].ID, i+1)
				}
			}
		}
	}
	out, err := e.create(name)
	if err != nil {
		return err
	}
	defer out.Abort()
	if strings.HasSuffix(low, ".parquet") {
		err = r.parquetPaths(out)
	} else {
		err = r.csvPaths(out)
	}
	if err != nil {
		return out.Failed(err)
	}
	if err := out.Commit(); err != nil {
		return err
	}
	e.note(fmt.Sprintf("wrote %d futures of %d series: %s", r.o.ask.Paths, len(r.Series), name))
	return nil
}

func (r *forecastResult) csvPaths(out *files.Output) error {
	w := csv.NewWriter(out)
	if err := w.Write([]string{"unique_id", "path", "ds", "y"}); err != nil {
		return err
	}
	for j := range r.Series {
		s := &r.Series[j]
		for k, p := range s.Futures {
			for i, v := range p {
				if err := w.Write([]string{report.Guard(s.ID), strconv.Itoa(k), s.DS[i], strconv.FormatFloat(v, 'f', -1, 64)}); err != nil {
					return err
				}
			}
		}
	}
	w.Flush()
	return w.Error()
}

// dsColumn is the column of stamps: instants, or whole numbers.
func (r *forecastResult) dsColumn() parquet.Column {
	if r.hs.Clock {
		return parquet.Column{Name: "ds", Kind: parquet.Instant}
	}
	return parquet.Column{Name: "ds", Kind: parquet.Int64}
}

// putStamp writes the stamp of step i ahead of s.
func (r *forecastResult) putStamp(t *parquet.Table, col int, s *outlook.Series, i int) {
	stamp := s.Source.Stamp(s.History.Values + i)
	if r.hs.Clock {
		t.Time(col, capcli.Time(stamp))
		return
	}
	t.Int(col, stamp)
}

func (r *forecastResult) parquetPaths(out *files.Output) error {
	t, err := parquet.NewTable(out, []parquet.Column{
		{Name: "unique_id", Kind: parquet.Text, Repeats: true}, {Name: "path", Kind: parquet.Int32}, r.dsColumn(), {Name: "y", Kind: parquet.Float64},
	}, map[string]string{"schema": "forecast_paths/v1"})
	if err != nil {
		return err
	}
	for j := range r.Series {
		s := &r.Series[j]
		for k, p := range s.Futures {
			for i, v := range p {
				t.Text(0, s.ID)
				t.Int(1, int64(k))
				r.putStamp(t, 2, s, i)
				t.Float(3, v)
				if err := t.Next(); err != nil {
					return err
				}
			}
		}
	}
	return t.Close()
}

// writeParquet writes the long form of the result.
func (r *forecastResult) writeParquet(e *env, name string) error {
	columns := []parquet.Column{{Name: "unique_id", Kind: parquet.Text, Repeats: true}, r.dsColumn(), {Name: "model", Kind: parquet.Text, Repeats: true}, {Name: "mean", Kind: parquet.Float64}}
	for _, level := range r.Levels {
		columns = append(columns, parquet.Column{Name: "lo-" + outlook.LevelText(level), Kind: parquet.Float64}, parquet.Column{Name: "hi-" + outlook.LevelText(level), Kind: parquet.Float64})
	}
	out, err := e.create(name)
	if err != nil {
		return err
	}
	defer out.Abort()
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
				return out.Failed(err)
			}
		}
	}
	if err := t.Close(); err != nil {
		return out.Failed(err)
	}
	if err := out.Commit(); err != nil {
		return err
	}
	for _, n := range r.notes() {
		e.note(n)
	}
	return nil
}
