//go:build linux && cgo

package nvml

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// What a recording of one GPU a second may take. Most of it is the driver's own time, which the stand-in for
// its library does not have.
const (
	mostCore = 0.02      // of a core
	mostRSS  = 100 << 10 // KiB
)

// recorder is the program, recording beside the check.
type recorder struct {
	t       *testing.T
	program string
	folder  string
	cmd     *exec.Cmd
	said    tail
	begun   time.Time
}

// startRecorder builds the program and starts a recording.
func startRecorder(t *testing.T) *recorder {
	t.Helper()
	dir := t.TempDir()
	r := &recorder{t: t, program: filepath.Join(dir, "capcli"), folder: filepath.Join(dir, "recording")}
	if out, err := exec.Command("go", "build", "-o", r.program, "capcli/cmd/capcli").CombinedOutput(); err != nil {
		t.Fatalf("build capcli: %v\n%s", err, out)
	}
	r.cmd = exec.Command(r.program, "profile", "--source", "nvml", "--processes", "2s", "--progress", "none", "--out", r.folder)
	r.cmd.Stderr = &r.said
	r.begun = time.Now()
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// finish ends the recording and holds it against the loads.
func (r *recorder) finish(j *judgement, seen []loadSeen) {
	wrong := func(format string, args ...any) {
		j.wrong = append(j.wrong, "recording: "+fmt.Sprintf(format, args...))
	}
	took := time.Since(r.begun)
	_ = r.cmd.Process.Signal(syscall.SIGTERM) // Wait says whether it had ended before
	if err := r.cmd.Wait(); err != nil {
		wrong("%v: %s", err, r.said)
		return
	}
	used, _ := r.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
	core := cpu.Seconds() / took.Seconds()
	r.t.Logf("recording: %v, %.3f%% of a core, at most %d MiB: %s", took.Round(time.Second), 100*core, used.Maxrss>>10, strings.TrimSpace(string(r.said)))
	if core > mostCore || used.Maxrss > mostRSS {
		wrong("%.2f%% of a core and %d KiB, expected at most %.0f%% and %d", 100*core, used.Maxrss, 100*mostCore, mostRSS)
	}
	if out, err := exec.Command(r.program, "verify", r.folder).CombinedOutput(); err != nil {
		wrong("verify: %v: %s", err, out)
	}
	out, err := exec.Command(r.program, "profile", "summary", r.folder, "-o", "json", "-q").Output()
	if err != nil {
		wrong("summary: %v", err)
		return
	}
	var sum profile.Result
	if err := json.Unmarshal(out, &sum); err != nil {
		wrong("summary: %v", err)
		return
	}
	if want := int64(took.Seconds()) - 3; sum.Ticks < want {
		wrong("%d ticks in %v, expected %d", sum.Ticks, took.Round(time.Second), want)
	}
	for i := range seen {
		r.verdict(j, &seen[i], &sum, wrong)
	}
}

// verdict holds what the summary says of a load's process against the load. In a container the process has
// another number: then it is the one that was there in the middle of the load alone.
func (r *recorder) verdict(j *judgement, s *loadSeen, sum *profile.Result, wrong func(string, ...any)) {
	middle := s.begun.Add(s.ended.Sub(s.begun) / 2).Stamp()
	i := slices.IndexFunc(sum.Jobs, func(job profile.JobResult) bool { return strings.HasSuffix(job.ID, fmt.Sprintf("/%d", s.pid)) })
	if i < 0 {
		i = slices.IndexFunc(sum.Jobs, func(job profile.JobResult) bool {
			return job.Kind == "process" && job.From <= middle && middle <= job.To && span(job.From, job.To) < 2*loadLength
		})
	}
	if i < 0 {
		j.untried["verdicts: the recording names no process of a load"] = true
		return
	}
	job := &sum.Jobs[i]
	r.t.Logf("recording of %s: %s, %q", s.load.name, job.Verdict, job.Words)
	if len(s.load.verdicts) > 0 && !slices.Contains(s.load.verdicts, job.Verdict) {
		wrong("%s is called %s (%s), expected one of %v", s.load.name, job.Verdict, job.Words, s.load.verdicts)
	}
}

// span is the time between two stamps.
func span(from, to string) time.Duration {
	begin, err := capcli.ParseTime(from, nil, false)
	end, e := capcli.ParseTime(to, nil, false)
	if err != nil || e != nil {
		return 0
	}
	return time.Duration(end-begin) * time.Second
}
