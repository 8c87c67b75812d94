// Package golden gives tests the answers of other programs, R above all, and the
// textbook series that they are of. It is part of no command.
package golden

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Frequency of the classic series, from their meta.json.
var Frequency = map[string]int{
	"AirPassengers": 12, "WWWusage": 1, "UKgas": 4, "JohnsonJohnson": 4, "LakeHuron": 1,
	"ldeaths": 12, "nottem": 12, "wineind": 12, "gold": 1,
}

// Read reads a golden answer into v; the test is skipped where the data is absent.
func Read(t testing.TB, name string, v any) {
	t.Helper()
	ReadJSON(t, filepath.Join("shared", "golden", "forecast", name+".json.gz"), v)
}

// Series reads a classic series.
func Series(t testing.TB, name string) []float64 {
	t.Helper()
	f := open(t, filepath.Join("shared", "data", "series", "classic", name+".csv"))
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var y []float64
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			v = math.NaN()
		}
		y = append(y, v)
	}
	return y
}

// CheckNear fails where got and want differ by more than tolerance of the largest of want.
func CheckNear(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	largest := 1e-12
	for _, v := range want {
		largest = math.Max(largest, math.Abs(v))
	}
	limit := tolerance * largest
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= limit) {
			t.Errorf("%s[%d] = %.12g, want %.12g", what, i, got[i], want[i])
			return
		}
	}
}

// ReadJSON reads a gzipped JSON file, whose path is relative to the module or to the
// folder that holds it, into v. It skips the test where there is none.
func ReadJSON(t testing.TB, path string, v any) {
	t.Helper()
	f := open(t, path)
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// open opens a file by its path relative to the module, or to the folder that holds
// the module, and skips the test where there is none.
func open(t testing.TB, path string) *os.File {
	t.Helper()
	for range 6 {
		if f, err := os.Open(path); err == nil {
			return f
		}
		path = filepath.Join("..", path)
	}
	t.Skip("no reference here: ", path)
	return nil
}

// Full reports whether tests take all their cases: with CAPCLI_FULL=1, as .ci/run has it, and with CAPCLI_LONG=1, which
// draws more on top. Without them a test of many cases takes a part of them.
func Full() bool { return os.Getenv("CAPCLI_FULL") != "" || os.Getenv("CAPCLI_LONG") != "" }

// Short reports whether a test takes less than all its cases: with -short, and where Full does not report true.
func Short() bool { return testing.Short() || !Full() }

// SkipLong skips a test that takes a second of CPU and more, where Short reports true.
func SkipLong(t testing.TB) {
	t.Helper()
	if Short() {
		t.Skip("long: CAPCLI_FULL=1 runs it")
	}
}

// Draws returns n where tests take all their cases, else a quarter of it, rounded up.
func Draws(n int) int {
	if Full() {
		return n
	}
	return (n + 3) / 4
}

// SkipPart skips case i of a table, from 0, where tests do not take all their cases, unless it is one in so many.
func SkipPart(t testing.TB, i, of int) {
	t.Helper()
	if i%of != 0 && !Full() {
		t.Skipf("one case in %d: CAPCLI_FULL=1 takes all", of)
	}
}
