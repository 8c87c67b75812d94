package trace

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli"
)

// shared gives the bytes of a file of the shared data, or skips the test.
func shared(t testing.TB, parts ...string) []byte {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "..", "shared"}, parts...)...)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("real data is not here: %v", err)
	}
	return b
}

// readAll reads everything and checks that every row is accounted for.
func readAll(t testing.TB, b []byte, o Options) ([]capcli.Job, Report) {
	t.Helper()
	r, err := Open(Input{Name: "test", R: bytes.NewReader(b)}, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	var jobs []capcli.Job
	for job, err := range r.Jobs() {
		if err != nil {
			t.Fatalf("after %d jobs: %v", len(jobs), err)
		}
		jobs = append(jobs, job)
	}
	rep := r.Report()
	if rep.Rows != rep.Kept+rep.Folded+rep.Rejected || rep.Kept != int64(len(jobs)) {
		t.Errorf("rows %d, kept %d, folded %d, rejected %d, given out %d: they do not add up", rep.Rows, rep.Kept, rep.Folded, rep.Rejected, len(jobs))
	}
	return jobs, rep
}

// The columns of the two dumps that came without a header.
const (
	sonarColumns = "JobID,JobIDRaw,User,Account,State,Start,End,AveCPU,AveDiskRead,AveDiskWrite,AveRSS,AveVMSize,ElapsedRaw," +
		"ExitCode,Layout,MaxRSS,MaxVMSize,MinCPU,ReqCPUS,ReqMem,ReqNodes,Reservation,Submit,Suspended,SystemCPU,TimelimitRaw," +
		"UserCPU,NodeList,Partition,AllocTRES,Priority,JobName"
	phillipsColumns = "JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode," +
		"State,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,JobName"
)

// expectedJob is what an independent importer made of one raw id: the rows of
// its attempts, put together by the rules of this package.
type expectedJob struct {
	id, user, account, partition, state, model string
	submit, start, end, elapsed, limit, gpus   int64
	started                                    bool
	before                                     string // state of the attempt before the last
}

func expected(t *testing.T, b []byte) map[string]*expectedJob {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	col := map[string]int{}
	for i, name := range rows[0] {
		col[name] = i
	}
	out := map[string]*expectedJob{}
	for _, row := range rows[1:] {
		num := func(name string) int64 {
			n, err := strconv.ParseInt(row[col[name]], 10, 64)
			if err != nil {
				return -1
			}
			return n
		}
		e := &expectedJob{
			id: row[col["job_id"]], user: row[col["user"]], account: row[col["account"]], partition: row[col["partition"]],
			state: row[col["state"]], model: row[col["gpu_type"]],
			submit: num("submit"), start: num("start"), end: num("end"), elapsed: num("elapsed_s"), limit: num("limit_s"),
			gpus: num("gpus"), started: row[col["started"]] == "1",
		}
		raw := row[col["raw_id"]]
		if was := out[raw]; was != nil { // attempts stand in order of submit
			e.submit = min(e.submit, was.submit)
			if !e.started && was.started {
				was.before, was.state = was.state, e.state
				continue
			}
		}
		out[raw] = e
	}
	return out
}

func TestSacctExpected(t *testing.T) {
	for _, c := range []struct {
		name, dump, want, columns string
		onlyIn                    bool // the dump has only some of the expected jobs
	}{
		{"lab all states", "lab-sacct-X-allstates.psv", "lab-expected.csv", "", false},
		{"lab", "lab-sacct-X.psv", "lab-expected.csv", "", true},
		{"lab epoch", "lab-sacct-X-epoch.psv", "lab-expected.csv", "", true},
		{"lab steps", "lab-sacct-all.psv", "lab-expected.csv", "", true},
		{"lab unit separator", "lab-sacct-X-us.txt", "lab-expected.csv", "header of lab-sacct-X.psv", true},
		{"sonar 2025", "sonar-fox-2025.psv", "sonar-norm.csv", sonarColumns, false},
		{"phillips", "phillips.log.gz", "phillips-norm.csv", phillipsColumns, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := expected(t, shared(t, "data", "sacct", c.want))
			o := Options{TZ: time.UTC}
			switch {
			case strings.HasPrefix(c.columns, "header"):
				line, _, _ := strings.Cut(string(shared(t, "data", "sacct", "lab-sacct-X.psv")), "\n")
				o.Columns = strings.Split(line, "|")
			case c.columns != "":
				o.Columns = strings.Split(c.columns, ",")
			}
			var refused []Reject
			o.Rejects = func(r Reject) { refused = append(refused, r) }
			jobs, rep := readAll(t, shared(t, "data", "sacct", c.dump), o)
			t.Logf("%+v", rep)
			byID := map[string]*expectedJob{}
			started := 0
			for _, e := range want {
				byID[e.id] = e
				if e.started {
					started++
				}
			}
			for _, job := range jobs {
				compareSacct(t, job, byID[job.ID], c.onlyIn)
				delete(byID, job.ID)
			}
			if c.onlyIn {
				return
			}
			if len(jobs) != started {
				t.Errorf("got %d jobs, want the %d that started", len(jobs), started)
			}
			for _, e := range byID {
				if e.started {
					t.Errorf("job %s is missing", e.id)
				}
			}
			for _, r := range refused {
				if r.Reason != "never started" && r.Reason != "pending: not started yet" {
					t.Errorf("line %d rejected: %s", r.Line, r.Reason)
				}
			}
			if len(refused) != len(byID) {
				t.Errorf("%d rows rejected, want the %d jobs that did not start", len(refused), len(byID))
			}
		})
	}
}

func compareSacct(t *testing.T, job capcli.Job, e *expectedJob, early bool) {
	t.Helper()
	if e == nil {
		t.Errorf("job %s was not expected", job.ID)
		return
	}
	end := int64(-1)
	if job.End.IsKnown() {
		end = int64(job.End)
	}
	type row struct {
		account, partition, state, model         string
		submit, start, end, elapsed, limit, gpus int64
	}
	got := row{
		job.Tenant, job.Partition, job.State, job.GPUModel,
		int64(job.Submit), int64(job.Start), end, int64(job.Run), int64(job.Limit), int64(job.GPUs),
	}
	want := row{e.account, e.partition, e.state, e.model, e.submit, e.start, e.end, e.elapsed, max(e.limit, 0), e.gpus}
	if early && e.before != "" { // nor had its last attempt begun
		want.state = e.before
	}
	if early && job.State == "RUNNING" { // had not ended when this dump was made
		want.state, want.end, want.elapsed = got.state, got.end, got.elapsed
	}
	if got != want {
		t.Errorf("job %s:\n got %+v\nwant %+v", job.ID, got, want)
	}
}
