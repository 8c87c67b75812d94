package plan_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// readSnowflake reads the file once for all tests.
var readSnowflake = sync.OnceValues(func() ([]float64, error) {
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "data", "demand", "snowflake_hourly.csv.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var hourly []float64
	lines := bufio.NewScanner(z)
	lines.Scan()
	at := map[string]int{}
	for lines.Scan() {
		cells := strings.Split(lines.Text(), ",")
		i, ok := at[cells[0]]
		if !ok {
			i = len(hourly)
			at[cells[0]] = i
			hourly = append(hourly, 0)
		}
		v, err := strconv.ParseFloat(cells[len(cells)-1], 64)
		if err != nil {
			return nil, err
		}
		hourly[i] += v
	}
	return hourly, lines.Err()
})

// snowflake is the demand of all regions and types, by the hour ("Shaved Ice",
// ICPE 2025).
func snowflake(t testing.TB) (start capcli.Time, hourly []float64) {
	t.Helper()
	hourly, err := readSnowflake()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the demand is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return capcli.TimeOf(time.Date(2021, 2, 1, 0, 0, 0, 0, time.UTC)), slices.Clone(hourly)
}

// TestSnowflake holds E8: three years of hours, purchases at month starts.
func TestSnowflake(t *testing.T) {
	start, hourly := snowflake(t)
	block, annual, long := term(t, "3mo", "0.85"), term(t, "12mo", "0.693679"), term(t, "36mo", "0.439195")
	tests := []struct {
		name  string
		terms []plan.Term
		want  capcli.USD
	}{
		{"3 years only", []plan.Term{long}, 27_432_502_688_400},
		{"1 year only", []plan.Term{annual}, 35_136_340_380_280},
		{"3 months only", []plan.Term{block}, 40_828_313_400_000},
		{"1 and 3 years", []plan.Term{annual, long}, 27_051_579_046_640},
		{"all", []plan.Term{block, annual, long}, 27_051_579_046_640},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := plan.Market{OnDemand: rate(t, "1"), Terms: tt.terms, After: plan.After{Rule: plan.Fitting}}
			c, err := plan.NewCurve(start, capcli.Step{Seconds: hour}, hourly)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Solve(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			if got.Cost != tt.want {
				t.Errorf("cost %s, want %s: %+v", got.Cost.Decimal(), tt.want.Decimal(), got.Purchases)
			}
		})
	}
}
