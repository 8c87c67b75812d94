package forecast

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/arima"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
	"capcli/forecast/smoothing"
	"capcli/forecast/tbats"
	"capcli/forecast/theta"
	"capcli/testdata/golden"
)

// speedTask is a model on one series, timed here and in R.
type speedTask struct {
	set, task, name string
	seasons         []int
	y               []float64
	r, ours         float64 // CPU seconds
	rFound, found   float64 // AICc or AIC, NaN where the task has none
}

// TestSpeedVsR times models against R's forecast package in one run: the same
// series on the same machine, CPU seconds of each. It needs Rscript with that
// package, and is run by hand: make speed-r. CAPCLI_SPEED_TASKS=ets,theta takes
// some of the tasks, CAPCLI_SPEED_EVERY=3 every third.
func TestSpeedVsR(t *testing.T) {
	if os.Getenv("CAPCLI_SPEED_R") == "" {
		t.Skip("a measurement against R: make speed-r")
	}
	all := speedTasks(t)
	if only := os.Getenv("CAPCLI_SPEED_TASKS"); only != "" {
		all = slices.DeleteFunc(all, func(s *speedTask) bool { return !slices.Contains(strings.Split(only, ","), s.task) })
	}
	if every, err := strconv.Atoi(os.Getenv("CAPCLI_SPEED_EVERY")); err == nil && every > 1 {
		i := -1
		all = slices.DeleteFunc(all, func(*speedTask) bool { i++; return i%every != 0 })
	}
	for _, s := range all {
		s.run(t)
	}
	speedOfR(t, all)
	type sum struct {
		n, worse         int
		ours, r          float64
		least, most, gap float64
	}
	var order []string
	sums := map[string]*sum{}
	for _, s := range all {
		key := s.task + " | " + s.set
		if sums[key] == nil {
			order, sums[key] = append(order, key), &sum{least: math.Inf(1)}
		}
		v := sums[key]
		v.n++
		v.ours, v.r = v.ours+s.ours, v.r+s.r
		v.least, v.most = min(v.least, s.r/s.ours), max(v.most, s.r/s.ours)
		if s.found > s.rFound+1e-2 {
			v.worse++
			v.gap = max(v.gap, s.found-s.rFound)
			t.Logf("%s %s %s: criterion %.3f, R %.3f", s.task, s.set, s.name, s.found, s.rFound)
		}
	}
	t.Log("| task | set | series | R, ms | ours, ms | ratio | least and most | criterion above R's |")
	for _, key := range order {
		v := sums[key]
		n := float64(v.n)
		t.Logf("| %s | %d | %.2f | %.3f | %.0f | %.0f to %.0f | %d (at most by %.2f) |", key, v.n, 1e3*v.r/n, 1e3*v.ours/n, v.r/v.ours, v.least, v.most, v.worse, v.gap)
	}
}

// speedTasks are the classic series, a hundred hourly ones of M4 and two hundred monthly ones of M3.
func speedTasks(t *testing.T) []*speedTask {
	var all []*speedTask
	add := func(set, name string, seasons []int, y []float64, tasks ...string) {
		for _, task := range tasks {
			all = append(all, &speedTask{set: set, task: task, name: name, seasons: seasons, y: y, found: math.NaN(), rFound: math.NaN()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(golden.Frequency)) {
		y, m := golden.Series(t, name), golden.Frequency[name]
		add("classics", name, []int{m}, y, "arima", "arima-log")
		if name == "gold" {
			continue // has missing values
		}
		add("classics", name, []int{m}, y, "ets", "theta")
		if m > 1 {
			add("classics", name, []int{m}, y, "stl", "stl-robust", "mstl-ets", "tbats")
		}
	}
	for i, y := range table(t, "m4/Hourly-train") {
		if i%4 != 0 || i >= 400 {
			continue
		}
		name := "H" + strconv.Itoa(i+1)
		add("100 of M4 hourly", name, []int{24}, y, "ets", "theta", "stl", "stl-robust")
		add("100 of M4 hourly", name, []int{24, 168}, y, "mstl-ets")
		if i%80 == 0 {
			add("5 of M4 hourly", name, []int{24, 168}, y, "tbats")
		}
		if i%40 == 0 {
			add("10 of M4 hourly", name, []int{24}, y, "arima")
		}
	}
	for i, y := range table(t, "m3/monthly-train") {
		if i%7 != 0 || i >= 1400 {
			continue
		}
		name := "N" + strconv.Itoa(i+1)
		add("200 of M3 monthly", name, []int{12}, y, "ets", "theta", "stl", "stl-robust", "mstl-ets")
		if i%70 == 0 {
			add("20 of M3 monthly", name, []int{12}, y, "tbats", "arima")
		}
	}
	return all
}

// run does the task for long enough to be timed.
func (s *speedTask) run(t *testing.T) {
	y := capcli.Series{Values: s.y}
	ahead := func(m model.Model) model.Info {
		fit, err := m.Fit(y)
		if err != nil {
			t.Fatalf("%s %s: %v", s.task, s.name, err)
		}
		if _, err := fit.Forecast(24, 80, 95); err != nil {
			t.Fatalf("%s %s: %v", s.task, s.name, err)
		}
		return fit.Info()
	}
	do := map[string]func(){
		"ets": func() {
			fit, err := smoothing.ETS{Period: s.seasons[0]}.Fit(y)
			if err != nil {
				t.Fatalf("ets %s: %v", s.name, err)
			}
			s.found = fit.Info().AICc
		},
		"arima": func() { s.found = ahead(arima.AutoARIMA{Period: s.seasons[0]}).AICc },
		"arima-log": func() {
			y = capcli.Series{Values: make([]float64, len(s.y))}
			for i, v := range s.y {
				y.Values[i] = math.Log(v)
			}
			s.found = ahead(arima.AutoARIMA{Period: s.seasons[0]}).AICc
		},
		"theta":      func() { ahead(theta.Theta{Period: s.seasons[0]}) },
		"mstl-ets":   func() { ahead(decomposed{seasons: s.seasons, rest: "ets"}) },
		"stl":        func() { _, _, _, _ = decompose.STL(s.y, s.seasons[0], decompose.Options{Window: 13}) },
		"stl-robust": func() { _, _, _, _ = decompose.STL(s.y, s.seasons[0], decompose.Options{Window: 13, Robust: true}) },
		"tbats": func() {
			fit, err := tbats.TBATS{Seasons: s.seasons}.Fit(y)
			if err != nil {
				t.Fatalf("tbats %s: %v", s.name, err)
			}
			s.found = fit.Info().AIC
		},
	}[s.task]
	times, began := 0, cpuSeconds()
	for cpuSeconds()-began < 0.05 {
		do()
		times++
	}
	s.ours = (cpuSeconds() - began) / float64(times)
}

// speedOfR gives R the same tasks and reads its times.
func speedOfR(t *testing.T, all []*speedTask) {
	var text bytes.Buffer
	for i, s := range all {
		fmt.Fprintf(&text, "%s,%d,%s", s.task, i, strings.Trim(strings.ReplaceAll(fmt.Sprint(s.seasons), " ", ":"), "[]"))
		for _, v := range s.y {
			text.WriteString("," + strconv.FormatFloat(v, 'g', -1, 64))
		}
		text.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "series.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "Rscript", "../testdata/rpeer/speed.R", path).Output()
	if err != nil {
		t.Fatalf("run R's half: %v; it needs Rscript and the package forecast", err)
	}
	for _, line := range strings.Fields(string(out)) {
		cells := strings.Split(line, ",")
		i, err := strconv.Atoi(cells[1])
		if err != nil || i >= len(all) {
			t.Fatalf("R's line %q", line)
		}
		if all[i].r, err = strconv.ParseFloat(cells[2], 64); err != nil {
			t.Fatalf("R's line %q: %v", line, err)
		}
		if v, err := strconv.ParseFloat(cells[3], 64); err == nil {
			all[i].rFound = v
		}
	}
}
