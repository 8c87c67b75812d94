package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"capcli/testdata/golden"
)

// noiseCSV writes n values of white noise around 100, sd 10, at stamps.
func noiseCSV(t *testing.T, n int, at func(i int) string) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 1))
	var b strings.Builder
	b.WriteString("unique_id,ds,y\n")
	for i := range n {
		fmt.Fprintf(&b, "a,%s,%.3f\n", at(i), 100+10*rng.NormFloat64())
	}
	name := filepath.Join(t.TempDir(), "noise.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func daily(i int) string {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i).Format("2006-01-02")
}

func periodRows(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	text, _ := capcliRun(t, 0, append(append([]string{"forecast"}, args...), "-o", "csv", "--table", "periods", "-q")...)
	return forecastRows(t, text)
}

// TestPeriodsFollowTheCalendar: whole weeks from Monday, months and quarters that
// begin after the history, whatever the step.
func TestPeriodsFollowTheCalendar(t *testing.T) {
	at := func(layout string, from time.Time, add func(t time.Time, i int) time.Time) func(int) string {
		return func(i int) string { return add(from, i).Format(layout) }
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		file  string
		flags []string
		want  []string // of, from, to
	}{
		"days": {
			noiseCSV(t, 80, daily), []string{"--horizon", "2w,2mo,1q"}, // to 2026-03-21, a Saturday
			[]string{"2w 2026-03-23 2026-03-29", "2w 2026-03-30 2026-04-05", "2mo 2026-04-01 2026-04-30", "2mo 2026-05-01 2026-05-31", "1q 2026-04-01 2026-06-30"},
		},
		"hours over a change of the clocks": {
			noiseCSV(t, 24*8, at(time.RFC3339, time.Date(2026, 3, 14, 23, 0, 0, 0, time.UTC), func(t time.Time, i int) time.Time { return t.Add(time.Duration(i) * time.Hour) })),
			[]string{"--horizon", "1w,1mo", "--tz", "Europe/Berlin"},
			[]string{"1w 2026-03-23 2026-03-29", "1mo 2026-04-01 2026-04-30"},
		},
		"weeks into months": {
			noiseCSV(t, 60, at("2006-01-02", time.Date(2025, 1, 6, 0, 0, 0, 0, time.UTC), func(t time.Time, i int) time.Time { return t.AddDate(0, 0, 7*i) })),
			[]string{"--horizon", "1mo,2q"},
			[]string{"1mo 2026-04-01 2026-04-30", "2q 2026-04-01 2026-06-30", "2q 2026-07-01 2026-09-30"},
		},
		"months stamped with their last day": {
			noiseCSV(t, 25, at("2006-01-02", day, func(t time.Time, i int) time.Time { return t.AddDate(0, i+1, -1) })),
			[]string{"--horizon", "1q,1y"}, // to the end of January 2028
			[]string{"1q 2028-04-01 2028-06-30", "1y 2029-01-01 2029-12-31"},
		},
		"steps": {
			noiseCSV(t, 40, func(i int) string { return fmt.Sprint(i) }),
			[]string{"--horizon", "4,12"},
			[]string{"4 40 43", "12 40 51"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, row := range periodRows(t, append([]string{c.file, "--model", "mean"}, c.flags...)...) {
				got = append(got, row["horizon"]+" "+row["from"]+" "+row["to"])
			}
			if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), strings.Join(c.want, "; "))
			}
		})
	}
}

// TestPeriodRangesAreOfMeans: of white noise the mean of n steps is known
// sqrt(n) times better than a step, and the highest of n steps lies where normal
// extremes do.
func TestPeriodRangesAreOfMeans(t *testing.T) {
	file := noiseCSV(t, 400, daily)
	args := []string{file, "--model", "mean", "--season", "0", "--horizon", "1,30", "--peak"}
	rows := periodRows(t, args...)
	one, month := rows[0], rows[1]
	width := func(row map[string]string, what string) float64 {
		return number(t, row[what+"hi-80"]) - number(t, row[what+"lo-80"])
	}
	text, _ := capcliRun(t, 0, "forecast", file, "--model", "mean", "--season", "0", "--horizon", "1", "-o", "csv", "-q")
	step := forecastRows(t, text)[0]
	if got, want := width(one, ""), width(step, ""); math.Abs(got-want) > 0.25*want {
		t.Errorf("a period of one step is %.2f wide, the step's range %.2f", got, want)
	}
	if got, want := width(month, "")/width(one, ""), 1/math.Sqrt(30); math.Abs(got-want) > 0.06 {
		t.Errorf("the mean of 30 steps is known to %.3f of a step, want about %.3f", got, want)
	}
	// the expected highest of 30 standard normals is 2.04 (Harter 1961)
	if got := (number(t, month["peak"]) - 100) / 10; math.Abs(got-2.04) > 0.25 {
		t.Errorf("the peak of 30 steps is %.2f standard deviations over the mean, want about 2.04", got)
	}
	if got, want := number(t, one["peak-hi-80"]), number(t, one["hi-80"]); math.Abs(got-want) > 5 {
		t.Errorf("the peak of one step reaches %.2f, the step %.2f", got, want)
	}
}

func TestPeakByPeriod(t *testing.T) {
	file, jobs := noiseCSV(t, 24*10, func(i int) string {
		return time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC).Format(time.RFC3339)
	}), jobsCSV(t)
	for _, args := range [][]string{{file, "--peak", "day"}, {"--peak=day", file}, {jobs, "--peak", "day", "--by", "pool"}} {
		rows := periodRows(t, append(args, "--model", "ses", "--horizon", "36")...)
		if len(rows) != 2 && len(rows) != 6 && len(rows) != 9 {
			t.Fatalf("%v: %d rows", args, len(rows))
		}
		for _, row := range rows {
			lo, peak, hi := number(t, row["peak-lo-95"]), number(t, row["peak"]), number(t, row["peak-hi-95"])
			if row["horizon"] != "day" || lo > peak || peak > hi || peak < number(t, row["mean"]) {
				t.Errorf("%v: %v", args, row)
			}
		}
	}
	if _, errs := capcliRun(t, 2, "forecast", file, "--peak"); !strings.Contains(errs, "--peak") {
		t.Errorf("the peak within the steps of a table: %s", errs)
	}
	if _, errs := capcliRun(t, 2, "forecast", file, "--peak=hours"); !strings.Contains(errs, "hour, day") {
		t.Errorf("an unknown period: %s", errs)
	}
	if _, errs := capcliRun(t, 2, "forecast", file, "--horizon", "4w,3x"); !strings.Contains(errs, "4w,3mo,2q") {
		t.Errorf("an unknown unit: %s", errs)
	}
	if _, errs := capcliRun(t, 2, "forecast", noiseCSV(t, 40, daily), "--horizon", "4h,1w"); !strings.Contains(errs, "parts of the steps") {
		t.Errorf("hours of days: %s", errs)
	}
	if _, errs := capcliRun(t, 2, "forecast", "backtest", file, "--horizon", "1w,1mo"); !strings.Contains(errs, "single steps") {
		t.Errorf("a backtest of periods: %s", errs)
	}
}

// TestPeriodsAddUp: parts and the whole agree in periods too, the JSON has what
// the table has, and nothing depends on the number of cores.
func TestPeriodsAddUp(t *testing.T) {
	golden.SkipLong(t)
	file := teamsCSV(t, 24*15, 0.5, "/")
	args := []string{"forecast", file, "--total", "--model", "theta", "--horizon", "1w,48", "--peak", "-o", "json", "-q"}
	text, _ := capcliRun(t, 0, args...)
	var got struct {
		Series []struct {
			ID      string `json:"unique_id"`
			Periods []struct {
				Horizon, From, To, Of string
				Mean                  float64
				Lo                    float64 `json:"lo-95"`
				Hi                    float64 `json:"hi-95"`
				Peak                  struct{ Mean float64 }
				Lines                 map[string]float64
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	whole, parts, wide, wides := 0.0, 0.0, 0.0, 0.0
	for _, s := range got.Series {
		if len(s.Periods) != 2 || s.Periods[0].Horizon != "1w" || s.Periods[0].Of != "mean" || s.Periods[0].Peak.Mean <= s.Periods[0].Mean || len(s.Periods[0].Lines) != 3 {
			t.Fatalf("%s: %+v", s.ID, s.Periods)
		}
		p := s.Periods[0]
		if s.ID == "total" {
			whole, wide = p.Mean, p.Hi-p.Lo
		} else {
			parts, wides = parts+p.Mean, wides+p.Hi-p.Lo
		}
	}
	if math.Abs(whole-parts) > 1e-6 {
		t.Errorf("the whole is %v, its parts %v", whole, parts)
	}
	if !(wide < 0.95*wides) {
		t.Errorf("the range of the whole is %v wide, those of its parts %v: as if all erred together", wide, wides)
	}
	was := runtime.GOMAXPROCS(1)
	again, _ := capcliRun(t, 0, args...)
	runtime.GOMAXPROCS(was)
	if again != text {
		t.Error("with one core the periods differ")
	}
}

// TestPeakOfATable: --peak alone gives the peaks of a table of days too, as --peak week does.
func TestPeakOfATable(t *testing.T) {
	var b strings.Builder
	b.WriteString("ds,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%s,%d\n", time.Date(2026, 1, 5+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), 50+i%7)
	}
	file := writeFile(t, "days.csv", b.String())
	for _, by := range [][]string{{"--peak"}, {"--peak", "week"}} {
		args := append([]string{"forecast", file, "--horizon", "4w", "--model", "snaive", "-o", "json", "-q"}, by...)
		if out, _ := capcliRun(t, 0, args...); !strings.Contains(out, `"peak": {`) {
			t.Errorf("%v gives no peaks: %s", by, out)
		}
	}
}
