package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "github.com/marcboeker/go-duckdb/v2"

	"capcli"
	"capcli/profile"
	"capcli/profile/store"
)

// late is ten minutes before a midnight, UTC.
const late = profile.Instant(1_795_564_200_000_000) // 2026-11-24T23:50:00Z

// tally is what a column comes to.
type tally struct {
	known int64
	sum   float64
}

// told is what was written of one host.
type told struct {
	ticks, samples, processes, events int64
	hosts, groups, readings           int64
	around                            [profile.NumHostMetrics]tally
	jobs                              [profile.NumGroupMetrics]tally
	value                             tally // of readings
	metrics                           [profile.NumMetrics]tally
	mem                               tally // of processes
	first, last                       profile.Instant
	days                              map[string]int64 // samples
}

// write samples a made-up box for half an hour and gives what was seen.
func write(t *testing.T, dir, host string, seed uint64) *told {
	t.Helper()
	w, _, err := store.Create(dir, store.Options{Host: host, Trouble: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	box := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: capcli.Seed(seed)})
	got := &told{days: map[string]int64{}}
	var tick profile.Tick
	for i := range 1800 {
		tick.Reset()
		tick.At, tick.Elapsed, tick.Every = late+profile.Instant(i)*1_000_003, time.Duration(i)*time.Second, time.Second
		if err := box.Read(context.Background(), &tick); err != nil {
			t.Fatal(err)
		}
		if i%100 == 7 {
			tick.Samples[0].Clear(profile.Lost)
			tick.Events = append(tick.Events, profile.Event{At: tick.At, Kind: profile.GPULost, Device: tick.Samples[0].Device.UUID})
		}
		if i%10 == 3 {
			d := tick.Samples[i%8].Device
			tick.Readings = append(tick.Readings, profile.Reading{Owner: profile.Owner{Job: "7"}, Device: d, Name: "step_s", Value: float64(i) / 8}, profile.Reading{Name: "loss", Value: -float64(i)})
			tick.Host.Miss(profile.FabricErrors, profile.NoPermission)
		}
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
		got.add(&tick)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return got
}

func (g *told) add(t *profile.Tick) {
	if g.ticks == 0 {
		g.first = t.At
	}
	g.last = t.At
	g.ticks++
	g.samples += int64(len(t.Samples))
	g.processes += int64(len(t.Processes))
	g.events += int64(len(t.Events))
	g.days[t.At.Std().Format(time.DateOnly)] += int64(len(t.Samples))
	for i := range t.Samples {
		for m := range profile.NumMetrics {
			if v, ok := t.Samples[i].Get(m); ok {
				step := profile.Metrics[m].Step
				g.metrics[m].known++
				g.metrics[m].sum += math.Round(v/step) * step
			}
		}
	}
	g.addAround(t)
	for i := range t.Processes {
		g.mem.known++
		g.mem.sum += math.Round(t.Processes[i].MemBytes)
	}
}

// addAround adds what the tick has of the box, of its jobs and of programs.
func (g *told) addAround(t *profile.Tick) {
	if t.LookedAtHost {
		g.hosts++
	}
	g.groups += int64(len(t.Groups))
	for m := range profile.NumHostMetrics {
		if v, ok := t.Host.Get(m); ok && t.LookedAtHost {
			g.around[m].known++
			g.around[m].sum += v
		}
	}
	for i := range t.Groups {
		for m := range profile.NumGroupMetrics {
			if v, ok := t.Groups[i].Get(m); ok {
				g.jobs[m].known++
				g.jobs[m].sum += v
			}
		}
	}
	for _, r := range t.Readings {
		g.readings++
		g.value.known++
		g.value.sum += r.Value
	}
}

// base is a DuckDB in memory.
func base(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// from names a table's files.
func from(dir, table string) string {
	return fmt.Sprintf("read_parquet('%s', hive_partitioning=true)", filepath.ToSlash(filepath.Join(dir, "*", "*", table+"-*.parquet")))
}

func TestDuckDBReadsADirectory(t *testing.T) {
	dir := t.TempDir()
	hosts := map[string]*told{"gpu-01": write(t, dir, "gpu-01", 1), "gpu-02": write(t, dir, "gpu-02", 2)}
	db := base(t)
	types(t, db, dir)
	for host, want := range hosts {
		checkHost(t, db, dir, host, want)
	}
	if _, err := store.Compact(context.Background(), nil, dir, store.CompactOptions{Hosts: []string{"gpu-01"}}); err != nil {
		t.Fatal(err)
	}
	types(t, db, dir)
	for host, want := range hosts {
		checkHost(t, db, dir, host, want)
	}
}

// documented matches a column and its type in docs/profile-files.md.
var documented = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| ([A-Z ]+) \\|")

// types holds the columns against the documented ones.
func types(t *testing.T, db *sql.DB, dir string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/profile-files.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"ticks", "samples", "processes", "events", "hosts", "groups", "readings"} {
		_, section, _ := strings.Cut(string(page), "\n## "+table+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		want := []string{}
		for _, row := range documented.FindAllStringSubmatch(section, -1) {
			want = append(want, row[1]+" "+row[2])
		}
		want = append(want, "date DATE", "host VARCHAR")
		rows, err := db.Query("SELECT column_name || ' ' || column_type FROM (DESCRIBE SELECT * FROM " + from(dir, table) + ")")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			got = append(got, s)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n got %q\nwant %q", table, got, want)
		}
	}
}

func checkHost(t *testing.T, db *sql.DB, dir, host string, want *told) {
	t.Helper()
	one := func(query string, into ...any) {
		t.Helper()
		if err := db.QueryRow(query).Scan(into...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for table, n := range map[string]int64{"ticks": want.ticks, "samples": want.samples, "processes": want.processes, "events": want.events, "hosts": want.hosts, "groups": want.groups, "readings": want.readings} {
		var got int64
		one(fmt.Sprintf("SELECT count(*) FROM %s WHERE host = '%s'", from(dir, table), host), &got)
		if got != n {
			t.Errorf("%s: %d %s, want %d", host, got, table, n)
		}
	}
	for m := range profile.NumMetrics {
		var got tally
		one(fmt.Sprintf("SELECT count(%[1]s), coalesce(sum(%[1]s)::DOUBLE, 0) FROM %s WHERE host = '%s'", m, from(dir, "samples"), host), &got.known, &got.sum)
		if got != want.metrics[m] {
			t.Errorf("%s: %s is %+v, want %+v", host, m, got, want.metrics[m])
		}
	}
	sum := func(table, column string, want tally) {
		t.Helper()
		var got tally
		one(fmt.Sprintf("SELECT count(%[1]s), coalesce(sum(%[1]s)::DOUBLE, 0) FROM %s WHERE host = '%s'", column, from(dir, table), host), &got.known, &got.sum)
		if got.known != want.known || math.Abs(got.sum-want.sum) > 1e-12*want.sum { // readings are on no grid: their sum depends on the order
			t.Errorf("%s: %s of %s is %+v, want %+v", host, column, table, got, want)
		}
	}
	for m := range profile.NumHostMetrics {
		sum("hosts", m.String(), want.around[m])
	}
	for m := range profile.NumGroupMetrics {
		sum("groups", m.String(), want.jobs[m])
	}
	sum("readings", "value", want.value)
	var mem tally
	one(fmt.Sprintf("SELECT count(mem_used_bytes), sum(mem_used_bytes)::DOUBLE FROM %s WHERE host = '%s'", from(dir, "processes"), host), &mem.known, &mem.sum)
	if mem != want.mem {
		t.Errorf("%s: memory of processes is %+v, want %+v", host, mem, want.mem)
	}
	var first, last time.Time
	var gpus, lost int64
	one(fmt.Sprintf("SELECT min(ts), max(ts), count(DISTINCT gpu_uuid), count(*) FILTER (missing LIKE '%%power_w=GPU lost%%') FROM %s WHERE host = '%s'", from(dir, "samples"), host), &first, &last, &gpus, &lost)
	if !first.Equal(want.first.Std()) || !last.Equal(want.last.Std()) || gpus != 8 || lost != want.events {
		t.Errorf("%s: from %v to %v, %d GPUs, %d lost; want %v to %v, 8, %d", host, first, last, gpus, lost, want.first.Std(), want.last.Std(), want.events)
	}
	for day, n := range want.days {
		var got int64
		one(fmt.Sprintf("SELECT count(*) FROM %s WHERE host = '%s' AND date = '%s'", from(dir, "samples"), host, day), &got)
		if got != n {
			t.Errorf("%s, %s: %d samples, want %d", host, day, got, n)
		}
	}
}

// The question that the files are for: what does each user hold, and use?
func TestDuckDBJoins(t *testing.T) {
	dir := t.TempDir()
	want := write(t, dir, "gpu-01", 3)
	query := fmt.Sprintf(`SELECT p."user", count(DISTINCT p.gpu_uuid), count(*) * 5 / 3600.0, avg(s.sm_active_pct)
		FROM %s p JOIN %s s USING (host, gpu_uuid, ts) GROUP BY ALL ORDER BY ALL`, from(dir, "processes"), from(dir, "samples"))
	rows, err := base(t).Query(query)
	if err != nil {
		t.Fatal(err)
	}
	var hours float64
	for rows.Next() {
		var user string
		var gpus int64
		var held float64
		var active sql.NullFloat64
		if err := rows.Scan(&user, &gpus, &held, &active); err != nil {
			t.Fatal(err)
		}
		if user == "" || gpus < 1 || gpus > 8 || active.Float64 < 0 || active.Float64 > 100 {
			t.Errorf("%s: %d GPUs, %v GPU-hours, %v %%", user, gpus, held, active)
		}
		hours += held
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if wanted := float64(want.processes) * 5 / 3600; math.Abs(hours-wanted) > 1e-9 {
		t.Errorf("%v GPU-hours, want %v", hours, wanted)
	}
}
