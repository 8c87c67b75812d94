package decide

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
	"capcli/profile/store"
	"capcli/scenarios/inputs"
	"capcli/scenarios/money/focus"
)

// Jobs of a box that is sampled each half an hour, from a Sunday on.
const (
	boxBegin = capcli.Time(1_767_484_800)
	boxEvery = 30 * time.Minute
	boxGPUs  = 8
)

// boxJobs returns the jobs of some days on a box: a long one, and in each working day more.
func boxJobs(days int) []capcli.Job {
	rng := capcli.Seed(5).Stream("box")
	var out []capcli.Job
	put := func(day, from, ticks, gpus int) {
		at := boxBegin + capcli.Time(day)*capcli.Time(capcli.Day) + capcli.Time(from)*1800
		run := capcli.Seconds(ticks) * 1800
		out = append(out, capcli.Job{
			ID: fmt.Sprint(100 + len(out)), Tenant: "t", GPUModel: "H100", GPUs: gpus, State: "COMPLETED", Submit: at, Start: at, End: at + capcli.Time(run), Run: run,
			Eligible: capcli.NoTime, Deadline: capcli.NoTime,
		})
	}
	for day := range days {
		put(day, 0, 47, 2)
		if day%7 != 0 && day%7 != 6 {
			put(day, 8+rng.IntN(3), 30+rng.IntN(3), 2)
			put(day, 20+rng.IntN(4), 4+rng.IntN(8), 1+rng.IntN(3))
		}
		put(day, 47, 1, 1) // says that the day is whole
	}
	return out
}

// quick is the disk without waiting for it.
type quick struct{ store.System }

type quickFile struct{ store.File }

func (quickFile) Sync() error { return nil }

func (quick) SyncDir(string) error { return nil }

func (q quick) Create(name string) (store.File, error) {
	f, err := q.System.Create(name)
	return quickFile{f}, err
}

// record writes a recording of jobs into a folder, and returns the jobs as it has them.
func record(t *testing.T, folder string, jobs []capcli.Job) []capcli.Job {
	t.Helper()
	w, _, err := store.Create(folder, store.Options{Disk: quick{}, Host: "box", Every: boxEvery, Processes: boxEvery, SegmentTime: 1000 * time.Hour, SegmentRows: 1 << 20, SegmentBytes: 1 << 28})
	if err != nil {
		t.Fatal(err)
	}
	var gpus []*profile.Device
	for i := range boxGPUs {
		gpus = append(gpus, &profile.Device{Index: i, UUID: fmt.Sprintf("GPU-%08d", i), Model: "NVIDIA H100 80GB HBM3", GI: -1, CI: -1})
	}
	end := capcli.Time(0)
	for i := range jobs {
		end = max(end, jobs[i].End)
	}
	for at := boxBegin; at <= end; at += 1800 {
		tick := profile.Tick{At: profile.InstantOf(time.Unix(int64(at), 0)), Every: boxEvery, LookedAtProcesses: true}
		next := 0
		for i := range jobs {
			j := &jobs[i]
			for range j.GPUs {
				if j.Start <= at && at < j.End {
					tick.Processes = append(tick.Processes, profile.Process{Device: gpus[next], PID: int64(1000 + i), User: j.Tenant, Command: "train", Job: j.ID, Kind: "compute", Start: capcli.NoTime})
					next++
				}
			}
		}
		for i, g := range gpus {
			s := tick.NextSample(g)
			s.Set(profile.UtilGPU, map[bool]float64{true: 90, false: 0}[i < next])
			s.Set(profile.MemUsed, 1e9)
		}
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum, err := store.OpenFolders([]store.Folder{{Name: folder, Root: folder}}).Summarise(t.Context(), store.SummaryRequest{}, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := sum.Record(false)
	return out
}

// logText writes jobs as a log.
func logText(t *testing.T, jobs []capcli.Job) []byte {
	t.Helper()
	file, err := jobfile.FileOf("log.csv")
	if err != nil {
		t.Fatal(err)
	}
	file.Extra.Tags = []string{profile.InputWaitTag, profile.WorkTag}
	var b bytes.Buffer
	if err := file.Write(&b, capcli.StreamJobs(jobs), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// boxWorld is a folder with a recording, and files beside it.
type boxWorld struct {
	folder string
	files  map[string][]byte
}

func (w *boxWorld) world() *World {
	open := opened(w.files)
	return &World{
		Open: func(name string) (trace.Input, io.Closer, error) { return open(name) },
		IsFolder: func(name string) bool {
			info, err := os.Stat(filepath.Join(w.folder, name))
			return err == nil && info.IsDir()
		},
		Folder: func(name string) (store.Folder, error) {
			return store.Folder{Name: name, Root: filepath.Join(w.folder, name)}, nil
		},
	}
}

// ask asks for inputs.
func (w *boxWorld) ask(t *testing.T, change func(q *Request), names ...string) *Result {
	t.Helper()
	r, err := w.try(t, change, names...)
	if err != nil {
		t.Fatalf("%q: %v", names, err)
	}
	return r
}

func (w *boxWorld) try(t *testing.T, change func(q *Request), names ...string) (*Result, error) {
	t.Helper()
	q := NewRequest(names[0], "H100")
	q.More, q.Horizon, q.Futures, q.Prices, q.Origins = names[1:], "13w", 6, "prices.csv", 0
	if change != nil {
		change(q)
	}
	return Decide(t.Context(), q, w.world())
}

func newBoxWorld(t *testing.T, days int) (w *boxWorld, seen []capcli.Job) {
	t.Helper()
	w = &boxWorld{folder: t.TempDir(), files: made{seed: 1, days: 1}.files()}
	seen = record(t, filepath.Join(w.folder, "recording"), boxJobs(days))
	w.files["log.csv"] = logText(t, seen)
	return w, seen
}

// figures are what two answers must agree on.
func figures(t *testing.T, r *Result) string {
	t.Helper()
	b, err := json.Marshal([]any{r.Plan, r.Alternatives, r.Order, r.Ties, r.Sizes, r.Log.Jobs, r.Log.Demand, r.Log.Ahead})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A recording of known jobs gives the decision of a log of the same jobs, and both together count them once.
func TestRecordingIsALogOfItsJobs(t *testing.T) {
	w, seen := newBoxWorld(t, 16)
	if want := boxJobs(16); len(seen) != len(want) {
		t.Fatalf("%d jobs were recorded, want %d", len(seen), len(want))
	}
	log := w.ask(t, nil, "log.csv")
	for _, names := range [][]string{{"recording"}, {"log.csv", "recording"}, {"recording", "log.csv"}} {
		r := w.ask(t, nil, names...)
		if got, want := figures(t, r), figures(t, log); got != want {
			t.Errorf("%q decide\n%s\nthe log\n%s", names, got, want)
		}
		if !bytes.Equal(r.Texts[FuturesFile], log.Texts[FuturesFile]) {
			t.Errorf("%q have other futures than the log", names)
		}
		i := slices.IndexFunc(r.Inputs, func(in inputs.Input) bool { return in.Kind == inputs.Recording })
		if in := r.Inputs[i]; in.Jobs != int64(len(seen)) || !strings.Contains(in.Took, "at work") || in.Days < 15.9 || in.Days > 16.1 {
			t.Errorf("%q: taken of the recording: %+v", names, in)
		}
	}
	if in := log.Inputs[0]; in.Kind != inputs.Log || in.Jobs != int64(len(seen)) || in.GPUHours == 0 || in.Took == "" {
		t.Errorf("taken of the log: %+v", in)
	}
}

// Half of the jobs in a log and all in a recording are all of the jobs once.
func TestRecordingFillsInALog(t *testing.T) {
	w, seen := newBoxWorld(t, 16)
	whole := w.ask(t, nil, "log.csv")
	var half []capcli.Job
	for i, j := range seen {
		if i%2 == 0 {
			j.GPUModel, j.Class = "", ""
			half = append(half, j)
		}
	}
	w.files["half.csv"] = logText(t, half)
	if got, want := figures(t, w.ask(t, nil, "half.csv", "recording")), figures(t, whole); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A log and a recording of the same days without a common id are no one's guess.
func TestRecordingOfOtherIDsAsks(t *testing.T) {
	w, seen := newBoxWorld(t, 16)
	other := slices.Clone(seen)
	for i := range other {
		other[i].ID, other[i].Tenant = "x"+other[i].ID, "someone"
	}
	w.files["other.csv"] = logText(t, other)
	_, err := w.try(t, nil, "other.csv", "recording")
	if !errors.Is(err, capcli.NoPlan) || !strings.Contains(err.Error(), "no job in common") {
		t.Fatalf("got %v", err)
	}
	same := w.ask(t, func(q *Request) { q.Joined = inputs.Same }, "other.csv", "recording")
	apart := w.ask(t, func(q *Request) { q.Joined = inputs.Apart }, "other.csv", "recording")
	if got := w.ask(t, nil, "other.csv"); figures(t, same) != figures(t, got) {
		t.Errorf("the same machines: got %v GPUs, want %v", same.Log.Demand, got.Log.Demand)
	}
	if apart.Log.Demand < 1.99*same.Log.Demand || apart.Log.Demand > 2.01*same.Log.Demand {
		t.Errorf("other machines: %v GPUs, and %v of the log alone", apart.Log.Demand, same.Log.Demand)
	}
	if !strings.Contains(apart.Steps[0].Command, "import auto other.csv recording --read joined=apart") {
		t.Errorf("the step is %s", apart.Steps[0].Command)
	}
}

// A recording of few days is answered with what it stands on; a log of as many is refused.
func TestShortRecording(t *testing.T) {
	w, _ := newBoxWorld(t, 9)
	if _, err := w.try(t, nil, "log.csv"); err == nil || !strings.Contains(err.Error(), "at least 14 days") {
		t.Errorf("the log: %v", err)
	}
	r := w.ask(t, nil, "recording")
	s := r.Short
	if s == nil || s.Days < 8.9 || s.Days > 9 || s.Least >= s.Most || !strings.HasPrefix(r.Answer, "This stands on ") || !strings.Contains(r.Answer, "one week differs from the next") {
		t.Fatalf("got %+v\n%s", s, r.Answer)
	}
	// A GPU that costs 60% pays if it is used in more than 14.4 hours of a day: on a Sunday two are, on a Monday two more
	// for 15 hours.
	if s.Least != 2 || s.Most != 4 {
		t.Errorf("the levels of single days are %v to %v, want 2 to 4", s.Least, s.Most)
	}
	if n := float64(r.Plan.GPUs); n < s.Least || n > s.Most {
		t.Errorf("%v GPUs are not in the range %v to %v", n, s.Least, s.Most)
	}
	w, _ = newBoxWorld(t, 1)
	if _, err := w.try(t, nil, "recording"); err == nil || !strings.Contains(err.Error(), "at least 2 days") {
		t.Errorf("one day: %v", err)
	}
}

// bill is a bill with use on demand at a rate, and a commitment for a year of some GPUs, all of them used.
func bill(t *testing.T, from, to capcli.Time, gpus, held int64, rate string) []byte {
	t.Helper()
	amount := func(text string) focus.Number {
		a, _, err := focus.ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		return focus.NumberOf(a)
	}
	var b bytes.Buffer
	w := focus.NewWriter(&b, nil)
	row := func(from, to capcli.Time, category string) *focus.Row {
		r := focus.NewRow()
		r.ChargePeriodStart, r.ChargePeriodEnd, r.BillingPeriodStart, r.BillingPeriodEnd = from, to, from, to
		r.ChargeCategory, r.PricingCategory, r.SkuID, r.BillingCurrency = category, focus.Standard, "box", "USD"
		r.BilledCost, r.EffectiveCost = amount("0"), amount("0")
		return &r
	}
	const day = capcli.Time(capcli.Day)
	if held > 0 {
		r := row(from/day*day, from/day*day+365*day, focus.Purchase)
		r.ChargeFrequency, r.CommitmentDiscountID, r.CommitmentDiscountType = "One-Time", "ri-1", "Reserved Instance"
		r.CommitmentDiscountQuantity, r.CommitmentDiscountUnit = amount(fmt.Sprint(held*365*24)), "Hours"
		w.Write(r)
	}
	for at := from / 3600 * 3600; at < to; at += 3600 {
		r := row(at, at+3600, focus.Usage)
		r.ConsumedQuantity, r.ConsumedUnit = amount(fmt.Sprint(gpus)), "Hours"
		r.EffectiveCost = amount(rate)
		w.Write(r)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A reserved instance on a bill is what --held says, and the bill's prices and use are told beside the answer.
func TestBillSaysWhatIsHeld(t *testing.T) {
	m := made{seed: 3, days: 30}
	w := &boxWorld{files: m.files()}
	const begin = capcli.Time(1_767_571_200)
	const day = capcli.Time(capcli.Day)
	w.files["focus.csv"] = bill(t, begin, begin+10*day, 2, 4, "7.20") // $3.60 a GPU-hour
	held := fmt.Sprintf("4@%s..%s", begin.Date(), (begin + 365*day).Date())
	with := w.ask(t, nil, "log.csv", "focus.csv")
	if want := w.ask(t, func(q *Request) { q.Held = []string{held} }, "log.csv"); figures(t, with) != figures(t, want) {
		t.Errorf("with the bill:\n%s\nwith --held %s:\n%s", figures(t, with), held, figures(t, want))
	}
	if none := w.ask(t, nil, "log.csv"); figures(t, with) == figures(t, none) {
		t.Error("what is held changes nothing")
	}
	notes := strings.Join(with.Notes, "\n")
	for _, want := range []string{"counts as held: --held " + held, "the bill paid $3.60 a GPU-hour, and the answer takes $4.00 (own/here/box/on_demand): 10% less was paid", "in the 238 hours that both cover the bill has 476 GPU-hours in use, and the jobs want 933: part of them ran on GPUs that are not on the bill"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, notes)
		}
	}
	if cmd := with.Steps[0].Command; strings.Contains(cmd, "focus.csv") {
		t.Errorf("the bill gives no jobs, and the step is %s", cmd)
	}
	own := w.ask(t, func(q *Request) { q.Held = []string{"2@" + begin.Date() + ".."} }, "log.csv", "focus.csv")
	if alone := w.ask(t, func(q *Request) { q.Held = []string{"2@" + begin.Date() + ".."} }, "log.csv"); figures(t, own) != figures(t, alone) {
		t.Error("a bill counts beside --held")
	}
}

// A bill alone is a demand: its use by the hour.
func TestBillAlone(t *testing.T) {
	w := &boxWorld{files: made{seed: 3, days: 1}.files()}
	const begin = capcli.Time(1_767_571_200)
	w.files["focus.csv"] = bill(t, begin, begin+20*capcli.Time(capcli.Day), 6, 0, "24")
	r := w.ask(t, nil, "focus.csv")
	if r.Log.Demand != 6 || r.Plan.GPUs != 6 {
		t.Errorf("the bill has 6 GPUs in use all the time: got a demand of %v and %d GPUs", r.Log.Demand, r.Plan.GPUs)
	}
}

// A stored answer of Prometheus counts as GPUs that are there.
func TestTableIsADemand(t *testing.T) {
	w := &boxWorld{files: made{seed: 3, days: 1}.files()}
	var b bytes.Buffer
	b.WriteString(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pool":"a"},"values":[`)
	for i := range 20 * 24 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `[%d,"%d"]`, 1_767_571_200+i*3600, 5)
	}
	b.WriteString(`]}]}}`)
	w.files["answer.json"] = b.Bytes()
	r := w.ask(t, nil, "answer.json")
	if r.Log.Demand != 5 || r.Inputs[0].Kind != inputs.Table {
		t.Errorf("got %v GPUs of %+v", r.Log.Demand, r.Inputs)
	}
}

const chat = `name: chat
time: {c0: 1000000000, lin: [[10000000, 10000000], [0, 10000000]]}
blocks: 1000
replicas: 1
promise: {e2e: 2s}
`

// requestsOf are requests of some days, one each hour.
func requestsOf(days int) []byte {
	var b bytes.Buffer
	b.WriteString("arrival,tokens_in,tokens_out\n")
	for i := range days * 24 {
		fmt.Fprintf(&b, "%s,10,5\n", capcli.Time(1_767_571_200+i*3600+60))
	}
	return b.Bytes()
}

// A service is a demand that is always there: a GPU more than the log alone, at all hours.
func TestServiceAddsToALog(t *testing.T) {
	w := &boxWorld{files: made{seed: 3, days: 30}.files()}
	w.files["chat.yaml"], w.files["requests.csv"] = []byte(chat), requestsOf(8)
	log := w.ask(t, nil, "log.csv")
	r := w.ask(t, nil, "log.csv", "chat.yaml", "requests.csv")
	if d := r.Log.Demand - log.Log.Demand; d < 0.98 || d > 1.02 {
		t.Errorf("the service adds %v GPUs, want 1", d)
	}
	if r.Log.Use != nil {
		t.Errorf("the log has no starts, and %v GPUs are said to be in use", *r.Log.Use)
	}
	if in := r.Inputs[1]; in.Kind != inputs.Service || !strings.Contains(in.Took, "1 to 1 GPUs by the hour") || !strings.Contains(in.Took, "the same hour of its weeks") {
		t.Errorf("taken of the service: %+v", in)
	}
	_, err := w.try(t, nil, "log.csv", "requests.csv")
	if err == nil || !strings.Contains(err.Error(), "the GPUs that they need depend on the service") {
		t.Errorf("requests without a service: %v", err)
	}
}

// A recording has the service under its name, or it asks.
func TestServiceThatIsRecorded(t *testing.T) {
	w, _ := newBoxWorld(t, 16)
	w.files["chat.yaml"], w.files["requests.csv"] = []byte(chat), requestsOf(8)
	_, err := w.try(t, nil, "recording", "chat.yaml", "requests.csv")
	if !errors.Is(err, capcli.NoPlan) || !strings.Contains(err.Error(), "no job that recording recorded is called chat") {
		t.Fatalf("got %v", err)
	}
	alone := w.ask(t, nil, "recording")
	same := w.ask(t, func(q *Request) { q.Joined = inputs.Same }, "recording", "chat.yaml", "requests.csv")
	if figures(t, same) != figures(t, alone) {
		t.Error("a service that is recorded counts twice")
	}
	w.files["t.yaml"] = []byte(strings.Replace(chat, "name: chat", "name: t", 1)) // all jobs are of the tenant t
	own := w.ask(t, nil, "recording", "t.yaml", "requests.csv")
	if own.Log.Demand < 0.98 || own.Log.Demand > 1.02 {
		t.Errorf("a service whose name all jobs have needs 1 GPU, and %v count", own.Log.Demand)
	}
}

// What there is none of is said, each with what it would change.
func TestMissingInputsAreSaid(t *testing.T) {
	w, _ := newBoxWorld(t, 16)
	const begin = capcli.Time(1_767_571_200)
	w.files["focus.csv"] = bill(t, begin, begin+10*capcli.Time(capcli.Day), 2, 0, "8")
	w.files["chat.yaml"], w.files["requests.csv"] = []byte(chat), requestsOf(8)
	w.files["events.yaml"] = []byte("capcli: events/v1\nevents:\n  - {name: launch, kind: step, from: 2026-02-10, gpus: 1}\n")
	for _, tt := range []struct {
		names   []string
		events  []string
		missing string // first words of what is missing
	}{
		{[]string{"log.csv"}, nil, "no recording, no service, no bill, no events"},
		{[]string{"recording"}, nil, "no job log, no service, no bill, no events"},
		{[]string{"log.csv", "recording", "focus.csv"}, nil, "no service, no events"},
		{[]string{"log.csv", "chat.yaml", "requests.csv"}, nil, "no recording, no bill, no events"},
		{[]string{"log.csv"}, []string{"events.yaml"}, "no recording, no service, no bill"},
	} {
		r := w.ask(t, func(q *Request) { q.Events = tt.events }, tt.names...)
		var got []string
		for _, m := range r.Missing {
			first, rest, _ := strings.Cut(m, ":")
			if got = append(got, first); rest == "" {
				t.Errorf("%q: %q does not say what it would change", tt.names, m)
			}
		}
		if strings.Join(got, ", ") != tt.missing {
			t.Errorf("%q: missing %q, want %s", tt.names, got, tt.missing)
		}
		if last := r.Remarks(); !strings.HasPrefix(last[len(last)-1], "not given: no ") {
			t.Errorf("%q: the last remark is %q", tt.names, last[len(last)-1])
		}
	}
}
