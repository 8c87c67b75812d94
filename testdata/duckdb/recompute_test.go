package duckdb

import (
	"database/sql"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/store"
)

//go:embed recompute.sql
var recompute string

// TestDuckDBRecomputesTheSummary: SQL over the files comes to each figure of a summary, for drawn
// recordings of several boxes with divided GPUs, holes, several holders of one GPU, a box that tells of
// no processes, and folders that overlap.
func TestDuckDBRecomputesTheSummary(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			dirs := drawRecordings(t, dir, seed)
			r := summaryOf(t, dirs)
			db := base(t)
			query := recompute
			for table, in := range map[string]string{"SAMPLES": "samples", "TICKS": "ticks", "PROCESSES": "processes", "EVENTS": "events"} {
				query = strings.ReplaceAll(query, "read_parquet("+table, "read_parquet("+filesOf(t, dirs, in))
			}
			if _, err := db.Exec(query); err != nil {
				t.Fatal(err)
			}
			checkUses(t, db, r)
			checkHours(t, db, r)
			checkRollUps(t, dirs, r)
			if len(r.Overlaps) != 1 || r.Overlaps[0].Host != "gpu-01" || r.Overlaps[0].Ticks != 150 {
				t.Errorf("overlaps %+v", r.Overlaps)
			}
		})
	}
}

// filesOf lists a table's files of all folders that have some.
func filesOf(t *testing.T, dirs []string, table string) string {
	t.Helper()
	var all []string
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*", "*", table+"-*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			all = append(all, "'"+filepath.ToSlash(f)+"'")
		}
	}
	if all == nil {
		t.Fatalf("no files of %s", table)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func summaryOf(t *testing.T, dirs []string) *profile.Result {
	t.Helper()
	f := openAll(dirs)
	z := profile.NewSummarizer(time.UTC)
	for tick, err := range f.Ticks(store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		z.Add(tick.Host, tick.Tick)
	}
	s := z.Summary()
	f.Describe(s)
	price := capcli.USD(2_345_678)
	return s.Result(dirs, &price, time.UTC)
}

// checkRollUps holds that roll-ups, of which there are some after a compaction, come to the same
// document.
func checkRollUps(t *testing.T, dirs []string, want *profile.Result) {
	t.Helper()
	for _, dir := range dirs {
		if _, err := store.Compact(t.Context(), nil, dir, store.CompactOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := openAll(dirs).Summarise(t.Context(), store.SummaryRequest{Zone: time.UTC}, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := document(t, s.Result(dirs, want.Price, time.UTC)), document(t, want)
	if got != wanted {
		t.Errorf("by roll-ups:\ngot  %s\nwant %s", got, wanted)
	}
}

func document(t *testing.T, r *profile.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func openAll(dirs []string) *store.Folders {
	var all []store.Folder
	for _, dir := range dirs {
		all = append(all, store.Folder{Name: filepath.Base(dir), Root: dir})
	}
	return store.OpenFolders(all)
}

// numbers are a row's figures by their names in JSON; null is NaN.
func numbers(t *testing.T, row any) map[string]float64 {
	t.Helper()
	b, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for k, v := range all {
		switch v := v.(type) {
		case float64:
			out[k] = v
		case nil:
			out[k] = math.NaN()
		}
	}
	return out
}

// checkUses holds the figures of GPUs, jobs, tenants and all against those of the tables.
func checkUses(t *testing.T, db *sql.DB, r *profile.Result) {
	t.Helper()
	uses := map[[2]string]map[string]float64{{"total", ""}: numbers(t, r.Total)}
	ratio := map[[2]string]float64{}
	for _, g := range r.GPUs {
		uses[[2]string{"gpu", g.Host + " " + g.UUID}] = numbers(t, g)
	}
	for _, j := range r.Jobs {
		if j.Kind != "unknown" {
			uses[[2]string{"job", j.ID}] = numbers(t, j)
		}
	}
	for _, x := range r.Tenants {
		uses[[2]string{"tenant", x.Tenant}] = numbers(t, x)
	}
	checked := 0
	compare := func(key [2]string, name string, want float64) {
		t.Helper()
		got, ok := uses[key][name]
		if strings.HasPrefix(key[1], "(not told)") {
			return // such jobs are known by no name
		}
		if checked++; !ok || !(math.Abs(got-want) <= 1e-9+1e-9*math.Abs(want)) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s of %q: %v, the files say %v", name, key, got, want)
		}
	}
	for _, row := range table(t, db, "SELECT * FROM sums") {
		key := [2]string{row["what"].(string), row["id"].(string)}
		for name, v := range row {
			if name != "what" && name != "id" {
				compare(key, name, toFloat(v))
			}
		}
		ratio[key] = toFloat(row["idle_held_gpu_hours"])
	}
	for _, row := range table(t, db, "SELECT * FROM percentiles") {
		key := [2]string{row["what"].(string), row["id"].(string)}
		name := fmt.Sprintf("%s_pct_p%.0f", row["metric"], 100*toFloat(row["q"]))
		name = strings.ReplaceAll(name, "power_pct", "power_w")
		if _, told := uses[key][name]; told {
			compare(key, name, toFloat(row["value"]))
		}
	}
	for _, row := range table(t, db, "SELECT * FROM pauses WHERE what IN ('gpu', 'job')") {
		key := [2]string{row["what"].(string), row["id"].(string)}
		compare(key, "longest_idle_s", toFloat(row["longest"])/1e6)
		compare(key, "starved_pauses", toFloat(row["pauses"]))
		if got, want := uses[key]["starved_s"], toFloat(row["starved"])/168/1e6; !strings.HasPrefix(key[1], "(not told)") && math.Abs(got-want) > 1e-6 {
			t.Errorf("%q starved for %v s, the files say %v", key, got, want)
		}
	}
	for _, row := range table(t, db, "SELECT * FROM most") {
		key := [2]string{"job", row["id"].(string)}
		compare(key, "gpus", toFloat(row["gpus"]))
		compare(key, "gpu_share", toFloat(row["gpu_share"]))
	}
	if len(uses) != len(ratio)-2 || checked < 500 { // two jobs are not told
		t.Errorf("%d figures of %d rows, of %d in the summary", checked, len(ratio), len(uses))
	}
	want := math.Round(2_345_678*ratio[[2]string{"total", ""}]) / 1e6
	if math.Abs(r.Total.IdleCost.Float()-want) > 1.5e-6 {
		t.Errorf("idle GPUs cost %v, the files say %v", r.Total.IdleCost, want)
	}
}

func checkHours(t *testing.T, db *sql.DB, r *profile.Result) {
	t.Helper()
	rows := table(t, db, "SELECT * FROM hours")
	if len(rows) != len(r.Hours) {
		t.Errorf("%d hours of the week, the files say %d", len(r.Hours), len(rows))
	}
	for _, row := range rows {
		for _, h := range r.Hours {
			if h.Weekday == row["weekday"] && float64(h.Hour) == toFloat(row["hour"]) {
				if math.Abs(float64(h.Held)-toFloat(row["held_share"])) > 1e-9 || math.Abs(float64(h.Busy)-toFloat(row["busy_share"])) > 1e-9 {
					t.Errorf("%+v, the files say %v", h, row)
				}
			}
		}
	}
}

// table reads the rows of a query.
func table(t *testing.T, db *sql.DB, query string) []map[string]any {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for rows.Next() {
		cells, at := make([]any, len(names)), make([]any, len(names))
		for i := range cells {
			at[i] = &cells[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, name := range names {
			row[name] = cells[i]
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func toFloat(v any) float64 {
	if v == nil {
		return math.NaN()
	}
	if d, ok := v.(interface{ Float64() float64 }); ok {
		return d.Float64()
	}
	var f float64
	if _, err := fmt.Sscan(fmt.Sprint(v), &f); err != nil {
		return math.Inf(1)
	}
	return f
}

// drawRecordings writes what three boxes did to two folders, which overlap on the first box.
func drawRecordings(t *testing.T, dir string, seed uint64) []string {
	t.Helper()
	dirs := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	const n = 700
	for i, host := range []string{"gpu-01", "gpu-02", "mute-03"} {
		b := newDrawnBox(host, rand.New(rand.NewPCG(seed, uint64(i))))
		parts := [][2]int{{0, 400}, {250, n}}
		if i > 0 {
			parts = [][2]int{{0, 0}, {0, 0}}
			parts[i%2][1] = n
		}
		var w [2]*store.Writer
		for k := range w {
			if parts[k][1] > parts[k][0] {
				var err error
				if w[k], _, err = store.Create(dirs[k], store.Options{Host: host, SegmentRows: 1000, Trouble: func(err error) { t.Error(err) }}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for at := range n {
			tick := b.next(at)
			for k := range w {
				if w[k] != nil && at >= parts[k][0] && at < parts[k][1] {
					if err := w[k].Write(tick); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for _, x := range w {
			if x != nil {
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return dirs
}

// drawnBox is a box by chance: a whole GPU, and one that MIG divides from some time on. The GPU that is
// divided has samples of its own on the first box alone.
type drawnBox struct {
	host    string
	r       *rand.Rand
	at      profile.Instant
	devices []*drawnDevice
}

type drawnDevice struct {
	d      *profile.Device
	active bool
	energy float64
	jobs   []profile.Process
}

func newDrawnBox(host string, r *rand.Rand) *drawnBox {
	b := &drawnBox{host: host, r: r, at: late}
	add := func(index int, uuid, parent, slice string, gi int) {
		b.devices = append(b.devices, &drawnDevice{d: &profile.Device{
			Index: index, UUID: host + "-" + uuid, Model: "NVIDIA H100 80GB HBM3", Parent: parent, Profile: slice, GI: gi, CI: min(gi, 0),
		}})
	}
	add(0, "GPU-0", "", "", -1)
	add(1, "GPU-1", "", "", -1)
	if host == "mute-03" {
		return b
	}
	parent := b.devices[1].d.UUID
	add(1, "MIG-a", parent, "3g.40gb", 1)
	add(1, "MIG-b", parent, "1g.10gb", 9)
	if host == "gpu-01" {
		add(1, "MIG-c", parent, "1g.20gb", 7)
	}
	return b
}

// next is the tick number n.
func (b *drawnBox) next(n int) *profile.Tick {
	step := profile.Instant(1_000_000 + b.r.IntN(200)*1000 - 100_000)
	t := &profile.Tick{Every: time.Second, LookedAtProcesses: n%5 == 0 && b.host != "mute-03"}
	switch b.r.IntN(60) {
	case 0:
		step = profile.Instant(4_000_000 + b.r.IntN(100_000_000)) // a hole that nothing tells of
	case 1:
		step = profile.Instant(2_000_000 + b.r.IntN(700_000_000))
		t.Events = append(t.Events, profile.Event{Kind: profile.Gap, Value: int64(step) - 1_000_000})
	}
	b.at += step
	t.At = b.at
	for i := range t.Events {
		t.Events[i].At = t.At
	}
	divided := n > 200
	for i, x := range b.devices {
		skip := i > 1 && !divided || i == 1 && divided && b.host == "gpu-02"
		if n > 0 && b.r.IntN(40) == 0 || skip {
			continue
		}
		b.sample(t, x)
	}
	return t
}

// sample draws what a device does, and who holds it.
func (b *drawnBox) sample(t *profile.Tick, x *drawnDevice) {
	if b.r.IntN(6) == 0 {
		x.active = !x.active
	}
	s := t.NextSample(x.d)
	busy := 0.0
	if x.active {
		busy = float64(8+b.r.IntN(792)) / 8
	}
	if b.r.IntN(20) > 0 {
		s.Set(profile.SMActive, busy)
	}
	if b.r.IntN(20) > 0 && !x.d.MIG() {
		s.Set(profile.UtilGPU, min(100, 2*busy))
		if x.active && b.r.IntN(8) == 0 { // one block of a kernel
			s.Set(profile.SMActive, 0.75)
			s.Set(profile.UtilGPU, float64(40+b.r.IntN(60)))
		}
	}
	s.Set(profile.TensorActive, busy/2)
	s.Set(profile.DRAMActive, busy/3)
	s.Set(profile.MemTotal, 80<<30)
	s.Set(profile.MemUsed, float64(b.r.IntN(3))*float64(b.r.IntN(30<<30)))
	if !x.d.MIG() || b.host == "gpu-02" { // which repeats the power of the GPU with its instances
		s.Set(profile.Power, 70+6*busy)
		if b.r.IntN(3) > 0 {
			s.Set(profile.Energy, x.energy)
		}
		if x.energy += 70 + 6*busy; b.r.IntN(100) == 0 {
			x.energy = 0
		}
	}
	if !t.LookedAtProcesses {
		return
	}
	if b.r.IntN(4) == 0 {
		slurm := func(id string) profile.Process { return profile.Process{Job: id, User: "u" + id, PID: 5} }
		pod := profile.Process{Namespace: "lab", Pod: b.host + "-nb", User: "root", PID: 6}
		own := profile.Process{User: "ida", PID: int64(7 + x.d.Index + 10*len(b.host)), Command: b.host}
		own.User += b.host
		x.jobs = [][]profile.Process{nil, {slurm("77")}, {slurm("77"), slurm("78")}, {pod}, {own, slurm("77"), pod}, {slurm("78")}}[b.r.IntN(6)]
	}
	for _, p := range x.jobs {
		p.Device = x.d
		t.Processes = append(t.Processes, p)
	}
}
