package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"capcli/testdata/shelltest"
)

// parquetFile writes rows as somebody else would.
func parquetFile[T any](t *testing.T, rows []T, options ...pq.WriterOption) string {
	t.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "demand.parquet")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestForecastReadsAnyLongParquet holds tables with every kind of stamp, id and
// value against the CSV that says the same.
func TestForecastReadsAnyLongParquet(t *testing.T) {
	type day struct {
		ID string `parquet:"unique_id,dict"`
		DS int32  `parquet:"ds,date"`
		Y  int64  `parquet:"y,decimal(2:18)"`
	}
	type local struct {
		Team  string   `parquet:"team"`
		Model *string  `parquet:"gpu,optional"`
		DS    int64    `parquet:"ds,timestamp(nanosecond:local)"`
		Other []string `parquet:"other"`
		Y     *float64 `parquet:"y,optional"`
	}
	type index struct {
		ID int32   `parquet:"id"`
		DS float64 `parquet:"t"`
		Y  int32   `parquet:"target"`
	}
	type text struct {
		DS string `parquet:"timestamp"`
		Y  string `parquet:"value"`
	}
	var days []day
	var locals []local
	var indexes []index
	var texts []text
	var dayCSV, localCSV, indexCSV, textCSV strings.Builder
	dayCSV.WriteString("unique_id,ds,y\n")
	localCSV.WriteString("unique_id,ds,y\n")
	indexCSV.WriteString("unique_id,ds,y\n")
	textCSV.WriteString("ds,y\n")
	h100 := "h100"
	for i := range 40 {
		y := 10 + (i*7)%11
		at := time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC)
		date := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		days = append(days, day{"a", int32(date.Unix() / 86400), int64(100*y + 25)})
		fmt.Fprintf(&dayCSV, "a,%s,%d.25\n", date.Format("2006-01-02"), y)
		f := float64(y)
		row := local{Team: "ml", Model: &h100, DS: at.UnixNano(), Y: &f}
		if i == 5 {
			row.Y = nil
			fmt.Fprintf(&localCSV, "ml/h100,%s,\n", at.Format("2006-01-02T15:04:05"))
		} else {
			fmt.Fprintf(&localCSV, "ml/h100,%s,%d\n", at.Format("2006-01-02T15:04:05"), y)
		}
		locals = append(locals, row)
		indexes = append(indexes, index{7, float64(i), int32(y)})
		fmt.Fprintf(&indexCSV, "7,%d,%d\n", i, y)
		texts = append(texts, text{at.Format(time.RFC3339), fmt.Sprintf("%d.5", y)})
		fmt.Fprintf(&textCSV, "%s,%d.5\n", at.Format(time.RFC3339), y)
	}
	for name, c := range map[string]struct {
		file, csv string
		flags     []string
	}{
		"dates and decimals":         {parquetFile(t, days, pq.Compression(&pq.Snappy), pq.DataPageVersion(1)), dayCSV.String(), nil},
		"times in a zone, two ids":   {parquetFile(t, locals, pq.Compression(&pq.Zstd)), localCSV.String(), []string{"--tz", "Europe/Berlin", "--id-col", "team,gpu"}},
		"other names, whole doubles": {parquetFile(t, indexes, pq.Compression(&pq.Gzip)), indexCSV.String(), nil},
		"texts":                      {parquetFile(t, texts, pq.Compression(&pq.Lz4Raw)), textCSV.String(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			csv := filepath.Join(t.TempDir(), "demand.csv")
			if err := os.WriteFile(csv, []byte(c.csv), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"--model", "ses", "--horizon", "3", "-o", "csv", "-q"}
			want, _ := capcliRun(t, 0, append([]string{"forecast", csv, "--tz", "Europe/Berlin"}, args...)...)
			if c.flags == nil {
				c.flags = []string{"--tz", "Europe/Berlin"}
			}
			if got, _ := capcliRun(t, 0, append(append([]string{"forecast", c.file}, c.flags...), args...)...); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestForecastReadsItsOwnParquet: what it wrote is a history again.
func TestForecastReadsItsOwnParquet(t *testing.T) {
	dir := t.TempDir()
	out, futures := filepath.Join(dir, "f.parquet"), filepath.Join(dir, "futures.parquet")
	capcliRun(t, 0, "forecast", pools, "--model", "snaive", "--horizon", "48", "--out", out, "-q")
	text, _ := capcliRun(t, 0, "forecast", out, "--value-col", "mean", "--model", "snaive", "--season", "24", "--horizon", "2", "-o", "csv", "-q")
	rows := forecastRows(t, text)
	if len(rows) != 4 || rows[0]["ds"] != "2026-09-24T00:00:00Z" {
		t.Fatalf("got\n%s", text)
	}
	capcliRun(t, 0, "forecast", pools, "--model", "snaive", "--horizon", "48", "--paths", "3", "--out", futures, "-o", "csv", "-q")
	text, _ = capcliRun(t, 0, "forecast", futures, "--id-col", "unique_id,path", "--model", "naive", "--horizon", "1", "-o", "csv", "-q")
	if rows := forecastRows(t, text); len(rows) != 6 || !strings.HasSuffix(rows[5]["unique_id"], "/2") {
		t.Fatalf("got\n%s", text)
	}
	if _, errs := capcliRun(t, 3, "forecast", futures, "--model", "naive"); !strings.Contains(errs, "futures.parquet") {
		t.Errorf("rows of several futures in one series: %s", errs)
	}
}

func TestForecastParquetFromAPipeAndDamaged(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "f.parquet")
	capcliRun(t, 0, "forecast", pools, "--model", "snaive", "--horizon", "48", "--out", out, "-q")
	whole, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--value-col", "mean", "--model", "naive", "--horizon", "2", "-o", "csv", "-q"}
	want, _ := capcliRun(t, 0, append([]string{"forecast", out}, args...)...)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(whole); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{whole, packed.Bytes()} {
		e, stdout, errs := shelltest.NewEnv()
		e.Stdin = bytes.NewReader(b)
		if got := run(context.Background(), e, append([]string{"forecast", "-"}, args...)); got != 0 || stdout.String() != want {
			t.Errorf("from a pipe: exit %d, %s, %s", got, stdout, errs)
		}
	}
	cut := filepath.Join(dir, "cut.parquet")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := capcliRun(t, 3, append([]string{"forecast", cut}, args...)...); !strings.Contains(errs, "cut short") || !strings.Contains(errs, "cut.parquet") {
		t.Errorf("a file cut short: %s", errs)
	}
	if _, errs := capcliRun(t, 2, "forecast", out, "--value-col", "mean", "--by", "pool"); !strings.Contains(errs, "--by") {
		t.Errorf("--by on a table: %s", errs)
	}
}
