package inputs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
	_ "capcli/scenarios/kubernetes/joblog" // a format of logs
	"capcli/scenarios/money/focus"
)

// opened opens texts by name.
func opened(files map[string]string) demand.Sources {
	return demand.Sources{Open: func(name string) (trace.Input, io.Closer, error) {
		text, ok := files[name]
		if !ok {
			return trace.Input{}, nil, fs.ErrNotExist
		}
		r := strings.NewReader(text)
		return trace.Input{Name: name, R: r, At: r, Size: r.Size()}, io.NopCloser(nil), nil
	}}
}

const focusHead = "BilledCost,EffectiveCost,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ConsumedQuantity,ConsumedUnit,SkuId,SkuPriceDetails,PricingCategory," +
	"CommitmentDiscountId,CommitmentDiscountQuantity,CommitmentDiscountUnit,CommitmentDiscountStatus,CommitmentDiscountCategory,ChargeFrequency,BillingCurrency\n"

func TestKinds(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want Kind
	}{
		"jobs.csv":      {"job_id,submit,run_s,gpus\n1,2026-01-01T00:00:00Z,60,1\n", Log},
		"jobs.jsonl":    {`{"job_id":"1","submit":"2026-01-01T00:00:00Z","gpus":1,"run_s":60}` + "\n", Log},
		"table.csv":     {"unique_id,ds,y\na,2026-01-01T00:00:00Z,5\na,2026-01-01T01:00:00Z,6\n", Table},
		"answer.json":   {`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1767225600,"5"]]}]}}`, Table},
		"requests.csv":  {"arrival,tokens_in,tokens_out\n2026-01-01T00:00:00Z,10,5\n", Requests},
		"azure.csv":     {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n", Requests},
		"bill.csv":      {focusHead, Bill},
		"chat.yaml":     {"name: chat\n", Service},
		"cluster.yaml":  {"apiVersion: v1\nkind: List\nitems: []\n", Log},
		"something.txt": {"hello\n", Log}, // its reader says what it expected
	} {
		r := &reading{Request: &Request{Names: []string{name}, Sources: opened(map[string]string{name: tt.text})}}
		if got, err := r.kindOf(name); err != nil || got != tt.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, tt.want)
		}
	}
}

// FuzzKind: what an input is can be said of any bytes, without a panic.
func FuzzKind(f *testing.F) {
	f.Add([]byte("job_id,submit,gpus\n"))
	f.Add([]byte("PAR1"))
	f.Add([]byte(focusHead))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(_ *testing.T, b []byte) {
		r := bytes.NewReader(b)
		_, _ = kindOfFile("x", trace.Input{Name: "x", R: r, At: r, Size: r.Size()})
	})
}

// readAll reads inputs and imports their jobs.
func readAll(t *testing.T, q *Request) (*Set, []capcli.Job) {
	t.Helper()
	set, err := Read(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	file, err := jobfile.FileOf("jobs.csv")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	_, err = set.Import(t.Context(), &jobfile.Request{Input: q.Names[0], Open: q.Sources.Open, File: file, Begin: func() (*jobfile.Pass, error) {
		b.Reset()
		return &jobfile.Pass{Jobs: &b, Reject: func(trace.Reject) error { return nil }, Done: func(int64) {}, End: func(int64) {}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	log, err := trace.Open(trace.Input{Name: "jobs.csv", R: &b}, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []capcli.Job
	for j, err := range log.Jobs() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, j)
	}
	return set, out
}

// Two logs add up: a row of both counts once, and an id that two clusters have is two jobs.
func TestTwoLogs(t *testing.T) {
	const head = "job_id,submit,run_s,gpus,tenant\n"
	set, jobs := readAll(t, &Request{Names: []string{"a.csv", "b.csv"}, Sources: opened(map[string]string{
		"a.csv": head + "1,2026-01-01T00:00:00Z,3600,1,x\n2,2026-01-02T00:00:00Z,60,2,x\n",
		"b.csv": head + "2,2026-01-02T00:00:00Z,7200,2,x\n1,2026-01-03T00:00:00Z,60,4,y\n",
	})})
	var got []string
	for _, j := range jobs {
		got = append(got, fmt.Sprintf("%s %s %d %d", j.ID, j.Submit.Date(), j.Run, j.GPUs))
	}
	want := []string{"1 2026-01-01 3600 1", "2 2026-01-02 7200 2", "b.csv:1 2026-01-03 60 4"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if notes := strings.Join(set.Notes, "\n"); !strings.Contains(notes, "b.csv: 1 job is in an earlier log too") || !strings.Contains(notes, "b.csv: 1 job has the id of a job of an earlier log, and is another job") {
		t.Errorf("got notes\n%s", notes)
	}
	if in := set.List[1]; in.Jobs != 2 || in.GPUHours.Hours() < 4 || in.Took == "" || len(in.SHA256) != 64 {
		t.Errorf("taken of b.csv: %+v", in)
	}
}

// The jobs of levels hold at each time what the levels say, to the thousandth, and the last is submitted in the last
// step.
func TestLevelsAreTheirJobs(t *testing.T) {
	for seed := range 200 {
		rng := capcli.Seed(seed).Stream("levels")
		const step = 1800
		start := capcli.Time(1_767_225_600 + int64(rng.IntN(48))*step)
		l := levels{at: func(i int) capcli.Time { return start + capcli.Time(i)*step }, unit: 1 + int64(rng.IntN(8)), like: capcli.Job{Tenant: "t", Class: ServiceClass}}
		n := 1 + rng.IntN(200)
		for range n {
			l.milli = append(l.milli, int64(rng.IntN(4))*int64(rng.IntN(9000)))
		}
		l.milli[n-1] = 1500
		jobs, err := l.jobs()
		if err != nil {
			t.Fatal(err)
		}
		last := capcli.NoTime
		got := make([]int64, n)
		for i := range jobs {
			j := &jobs[i]
			last = max(last, j.Submit)
			if j.Run <= 0 || j.End != j.Submit+capcli.Time(j.Run) || j.Run > capcli.Day {
				t.Fatalf("seed %d: %+v", seed, j)
			}
			for at := j.Submit; at < j.End; at += step {
				got[(at-start)/step] += j.Milli()
			}
		}
		if !slices.Equal(got, l.milli) {
			t.Fatalf("seed %d: the jobs hold\n%v\nof\n%v", seed, got, l.milli)
		}
		if last != l.at(n-1) {
			t.Fatalf("seed %d: the last job is submitted %s, in the step of %s", seed, last, l.at(n-1))
		}
	}
}

// A job is one in a log and a recording by its id and its time. The recording fills in what the log does not say.
func TestJoinRecording(t *testing.T) {
	at := func(h int) capcli.Time { return capcli.Time(1_767_225_600 + h*3600) }
	job := func(id string, submit, start, end int, gpus int) capcli.Job {
		j := capcli.Job{ID: id, Tenant: "t", GPUs: gpus, Submit: at(submit), Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime}
		if start >= 0 {
			j.Start = at(start)
		}
		if end >= 0 {
			j.End, j.Run = at(end), capcli.Seconds(end-start)*capcli.Hour
		}
		return j
	}
	seen := func(id string, start, end int) capcli.Job {
		j := job(id, start, start, end, 2)
		j.GPUModel, j.Class, j.State = "H100", "working", "COMPLETED"
		return j
	}
	running := job("run", 1, 2, -1, 2) // it ran when the log was written
	running.Run = 2 * capcli.Hour
	for _, tt := range []struct {
		name     string
		log, rec capcli.Job
		want     string
	}{
		{"the same", job("1", 0, 1, 5, 4), seen("1", 1, 5), "1 4 1 5 H100"},
		{"clocks differ by a minute", job("1", 0, 1, 5, 4), func() capcli.Job { j := seen("1", 1, 5); j.Start -= 60; return j }(), "1 4 1 5 H100"},
		{"it ran on", running, seen("run", 2, 9), "run 2 2 9 H100"},
		{"the log knows no start", job("1", 0, -1, -1, 4), seen("1", 3, 7), "1 4 3 7 H100"},
		{"the id came again", job("1", 0, 1, 5, 4), seen("1", 20, 30), "1 4 1 5 ; 1 2 20 30 H100"},
		{"another id, the same tenant, GPUs and times", job("7", 0, 1, 5, 2), seen("1", 1, 5), "7 2 1 5 H100"},
		{"another id and other GPUs", job("7", 0, 1, 5, 4), seen("1", 1, 5), "7 4 1 5 ; 1 2 1 5 H100"},
		{"another id and another end", job("7", 0, 1, 6, 2), seen("1", 1, 5), "7 2 1 6 ; 1 2 1 5 H100"},
		{"a job beside the scheduler", job("1", 40, 41, 45, 4), seen("2", 1, 2), "1 4 41 45 ; 2 2 1 2 H100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &reading{Request: &Request{Joined: Apart}, set: &Set{}, parts: []*part{{Input: Input{File: "rec", Kind: Recording}, jobs: []capcli.Job{tt.rec}}}}
			got, err := r.joinRecording([]capcli.Job{tt.log})
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, j := range got {
				texts = append(texts, fmt.Sprintf("%s %d %d %d %s", j.ID, j.GPUs, (j.Start-at(0))/3600, (j.Start+capcli.Time(j.Run)-at(0))/3600, j.GPUModel))
			}
			if text := strings.Join(texts, "; "); strings.TrimSpace(text) != tt.want {
				t.Errorf("got %q, want %q", text, tt.want)
			}
		})
	}
}

func TestServiceIsFoundByName(t *testing.T) {
	l := &load{name: "chat"}
	for _, tt := range []struct {
		job  capcli.Job
		want bool
	}{
		{capcli.Job{ID: "chat"}, true},
		{capcli.Job{ID: "Chat", Tenant: "x"}, true},
		{capcli.Job{ID: "prod/chat-7d9f-x2x"}, true},
		{capcli.Job{ID: "chat-7d9f"}, true},
		{capcli.Job{ID: "7", Tenant: "chat"}, true},
		{capcli.Job{ID: "7", Partition: "chat"}, true},
		{capcli.Job{ID: "chatter-1", Tenant: "x"}, false},
		{capcli.Job{ID: "prod/chat-"}, false},
		{capcli.Job{ID: "train-chat"}, false},
	} {
		if got := l.isOwn(&tt.job); got != tt.want {
			t.Errorf("%+v: got %v", tt.job, got)
		}
	}
}

// A load covers its own hours, and others are the same hour of its weeks, its days or of itself.
func TestSpread(t *testing.T) {
	const begin = capcli.Time(1_767_225_600) // a midnight
	for _, n := range []int{5, 30, 24 * 9} {
		l := &load{part: &part{}, name: "s", unit: 2, start: begin + 24*hour}
		for i := range n {
			l.gpus = append(l.gpus, 2*int64(1+i%7))
		}
		jobs, err := l.spread(begin, begin+24*hour*20)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]int64, 24*20)
		for i := range jobs {
			for at := jobs[i].Submit; at < jobs[i].End; at += hour {
				got[(at-begin)/hour] += int64(jobs[i].GPUs)
			}
		}
		whole := map[int]int{5: 5, 30: 24, 24 * 9: 168}[n]
		for i, g := range got {
			k := i - 24
			if k < 0 || k >= n {
				k = ((k % whole) + whole) % whole
			}
			if g != l.gpus[k] {
				t.Fatalf("%d hours: in hour %d there are %d GPUs, want %d", n, i, g, l.gpus[k])
			}
		}
	}
}

// What a bill says of commitments: GPUs and ends, or why not. Several bills of one commitment hold it once.
func TestBillCommitments(t *testing.T) {
	const details = `"{""x_GpuModel"":""H100""}"`
	use := func(day int, id, quantity, status, category string) string {
		return fmt.Sprintf("0,0,Usage,2026-01-%02dT00:00:00Z,2026-01-%02dT00:00:00Z,%s,Hours,x,%s,Committed,%s,%s,Hours,%s,%s,Usage-Based,USD\n", day, day+1, quantity, details, id, quantity, status, category)
	}
	buy := func(id, from, to, quantity, how string) string {
		return fmt.Sprintf("10,0,Purchase,%sT00:00:00Z,%sT00:00:00Z,,,x,%s,Standard,%s,%s,Hours,,Usage,%s,USD\n", from, to, details, id, quantity, how)
	}
	set, err := Read(t.Context(), &Request{Names: []string{"jan.csv", "feb.csv"}, GPU: "H100", Sources: opened(map[string]string{
		"jan.csv": focusHead + buy("year", "2026-01-01", "2027-01-01", "70080", "One-Time") + use(1, "year", "192", focus.Used, "Usage") +
			buy("monthly", "2026-01-01", "2026-02-01", "2976", "Recurring") + use(1, "plan", "48", focus.Used, "Spend") + use(2, "year", "96", focus.Used, "Usage") + use(2, "year", "96", focus.Unused, "Usage") +
			"48,48,Usage,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,24,Hours,p4d.24xlarge,,Standard,,,,,,Usage-Based,USD\n",
		"feb.csv": focusHead + use(3, "year", "192", focus.Used, "Usage") + "72,72,Usage,2026-01-03T00:00:00Z,2026-01-04T00:00:00Z,24,Hours,p5.48xlarge,,Standard,,,,,,Usage-Based,USD\n",
	})})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range set.Bill.Held {
		got = append(got, fmt.Sprintf("%s %s %s", h.ID, h.Text(), h.Why))
	}
	want := []string{
		"monthly 4@.. the bill does not say when it ends: it is paid month by month",
		"plan 2@.. the bill does not say when it ends: it is paid month by month",
		"year 8@2026-01-01..2027-01-01 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// A p5.48xlarge is 8 H100 for 24 hours at $72: $0.375 a GPU-hour. The p4d.24xlarge has A100s, which do not count.
	if set.Bill.Paid != 375_000 || set.Bill.OnDemand.Hours() != 192 {
		t.Errorf("paid %s a GPU-hour for %v", set.Bill.Paid, set.Bill.OnDemand.Hours())
	}
	if used := set.Bill.Use[capcli.Time(1_767_225_600)+48*hour].Hours(); used != 16 {
		t.Errorf("on 3 January %v GPUs are in use, want 8 of the commitment and 8 on demand", used)
	}
}

// A commitment to $30 an hour, of which $5 go to other use, covers the GPUs that the rest pays for at the $2.50 at which a
// GPU-hour draws on it. One that no GPU draws on says so.
func TestDollarsAsGPUs(t *testing.T) {
	row := func(category, id, consumed, details, drawn, status, frequency, until string) string {
		return fmt.Sprintf("0,0,%s,2026-01-01T00:00:00Z,%sT00:00:00Z,%s,Hours,x,%s,Committed,%s,%s,USD,%s,Spend,%s,USD\n", category, until, consumed, details, id, drawn, status, frequency)
	}
	const h100, a100 = `"{""x_GpuModel"":""H100""}"`, `"{""x_GpuModel"":""A100""}"`
	text := focusHead + row("Purchase", "plan", "", "", "262800", "", "One-Time", "2027-01-01") +
		row("Usage", "plan", "192", h100, "480", focus.Used, "Usage-Based", "2026-01-02") +
		row("Usage", "plan", "60", a100, "120", focus.Used, "Usage-Based", "2026-01-02") +
		row("Usage", "plan", "", "", "120", focus.Unused, "Usage-Based", "2026-01-02") +
		row("Usage", "other", "60", a100, "120", focus.Used, "Usage-Based", "2026-01-02")
	set, err := Read(t.Context(), &Request{Names: []string{"bill.csv"}, GPU: "H100", Sources: opened(map[string]string{"bill.csv": text})})
	if err != nil {
		t.Fatal(err)
	}
	other, plan := set.Bill.Held[0], set.Bill.Held[1]
	if plan.Why != "" || plan.Text() != "10@2026-01-01..2027-01-01" || plan.Rate != 2_500_000 || plan.Dollars != 30_000_000 || plan.Others != 5_000_000 {
		t.Errorf("got %+v", plan)
	}
	if other.GPUs != 0 || !strings.Contains(other.Why, "no GPU that counts draws on it") {
		t.Errorf("got %+v", other)
	}
}

// A size is kept by the contents of all files that it is made of.
func TestSizeIsKept(t *testing.T) {
	files := map[string]string{
		"chat.yaml":  "name: chat\ntime: {c0: 1000000000, lin: [[10000000, 10000000], [0, 10000000]]}\nblocks: 1000\nreplicas: 1\npromise: {e2e: 2s}\nrequests: {from: trace.csv}\n",
		"trace.csv":  "arrival,tokens_in,tokens_out\n2026-01-01T10:00:00Z,10,5\n2026-01-01T12:30:00Z,10,5\n",
		"service.md": "",
	}
	kept, made := map[string][]byte{}, 0
	read := func() *Set {
		set, err := Read(t.Context(), &Request{Names: []string{"chat.yaml"}, Sources: opened(files), Keep: func(key string, do func() ([]byte, error)) ([]byte, error) {
			if b, ok := kept[key]; ok {
				return b, nil
			}
			made++
			b, err := do()
			kept[key] = b
			return b, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	first := read()
	if again := read(); made != 1 || again.Sum() != first.Sum() {
		t.Errorf("the same files were sized %d times", made)
	}
	// From 10:00 to 13:00 there is a replica, but at 11:00, when nothing comes.
	if got := first.List[0]; got.GPUHours.Hours() != 2 || got.Jobs != 2 {
		t.Errorf("taken of the service: %+v", got)
	}
	files["trace.csv"] += "2026-01-01T13:30:00Z,10,5\n"
	if read(); made != 2 {
		t.Errorf("another trace was sized %d times, want once more", made)
	}
}

// Errors say what was found and what to do.
func TestInputErrors(t *testing.T) {
	files := map[string]string{
		"empty.csv":    focusHead,
		"cpu.csv":      focusHead + "1,1,Usage,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,24,Hours,m5.large,,Standard,,,,,,Usage-Based,USD\n",
		"requests.csv": "arrival,tokens_in,tokens_out\n2026-01-01T00:00:00Z,10,5\n",
		"bad.yaml":     "name: chat\ntime: {c0: 1000000000, lin: [[10000000, 10000000], [0, 10000000]]}\nblocks: 1000\nreplicas: 1\n",
		"jobs.csv":     "job_id,submit,run_s,gpus\n1,2026-01-01T00:00:00Z,60,1\n",
	}
	src := opened(files)
	src.IsFolder = func(name string) bool { return name == "folder" }
	dir := t.TempDir()
	src.Folder = nil
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"empty.csv"}, "the bill is empty"},
		{[]string{"cpu.csv"}, "expected use of H100, found none in 1 row"},
		{[]string{"requests.csv"}, "the GPUs that they need depend on the service"},
		{[]string{"bad.yaml", "requests.csv"}, "the service cannot be sized"},
		{[]string{"bad.yaml", "bad.yaml", "requests.csv"}, "nothing says which requests are whose"},
		{[]string{"jobs.csv", "-"}, "stdin is read as the only input"},
		{[]string{"nosuch.csv"}, "file does not exist"},
	} {
		if _, err := Read(t.Context(), &Request{Names: tt.names, GPU: "H100", Sources: src}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %s", tt.names, err, tt.want)
		}
	}
	src.IsFolder = func(string) bool { return true }
	if _, err := Read(t.Context(), &Request{Names: []string{dir}, Sources: src}); err == nil || !strings.Contains(err.Error(), "found no recording in it") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Read(t.Context(), &Request{Names: []string{"jobs.csv"}, Joined: "perhaps", Sources: src}); !errors.As(err, new(*capcli.RequestError)) {
		t.Errorf("joined=perhaps: %v", err)
	}
}
