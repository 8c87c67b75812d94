package box

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// The box that the tests run on has cores and memory.
func TestThisBox(t *testing.T) {
	r, ok := Examine()
	for _, name := range []string{"cpu_pct", "host_mem_available_bytes"} {
		if !ok || !slices.Contains(r.Measured, name) {
			t.Errorf("%s is missing: %s", name, r.Missing)
		}
	}
	n := len(r.Measured)
	for word := range strings.FieldsSeq(r.Missing) {
		if strings.Contains(word, "_") {
			n++
		}
	}
	if n < int(profile.NumHostMetrics)-4 {
		t.Errorf("%+v", r)
	}
}

func TestIsHere(t *testing.T) {
	for _, c := range []struct {
		source, where string
		want          bool
	}{
		{"nvml", "", true},
		{"nvml", "/lib/libnvidia-ml.so.1", true},
		{"smi", "", true},
		{"smi", "smi.csv", false},
		{"fake", "", false},
		{"replay", "x", false},
		{"prometheus", "http://localhost:9090", false},
		{"dcgm", "http://127.0.0.1:9400/metrics", true},
		{"dcgm", "http://[::1]:9400/metrics", true},
		{"dcgm", "http://localhost:9400/metrics", true},
		{"dcgm", "http://192.0.2.7:9400/metrics", false},
		{"dcgm", "metrics.txt", false},
	} {
		if got := IsHere(c.source, c.where); got != c.want {
			t.Errorf("%s %s: %v", c.source, c.where, got)
		}
	}
}

// groupsHere makes control groups on this box and gives a process in each; none where that may not be
// done here.
func groupsHere(t testing.TB, n int) (of []profile.Process) {
	t.Helper()
	root := "/sys/fs/cgroup"
	if _, err := os.Stat(root + "/cgroup.controllers"); err != nil {
		root += "/unified"
	}
	for i := range n {
		dir := filepath.Join(root, "capcli-test-"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Logf("no control groups: %v", err)
			return nil
		}
		p, err := os.StartProcess("/bin/sleep", []string{"sleep", "600"}, &os.ProcAttr{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = p.Kill()
			_, _ = p.Wait()
			_ = os.Remove(dir)
		})
		if err := os.WriteFile(dir+"/cgroup.procs", []byte(strconv.Itoa(p.Pid)), 0o644); err != nil {
			t.Logf("no control groups: %v", err)
			return nil
		}
		of = append(of, profile.Process{PID: int64(p.Pid), User: "user" + strconv.Itoa(i), Start: capcli.Time(i)})
	}
	return of
}

// A look at this box and at eight jobs on it allocates nothing once all files are open.
func TestLookAllocatesNothing(t *testing.T) {
	root, now, _ := thisBox()
	b := newBox(root, now)
	defer b.close()
	var h profile.HostSample
	var out []profile.GroupSample
	var of []holder
	for _, p := range groupsHere(t, 8) {
		of = append(of, holder{process{p.PID, p.Start}, p.Owner()})
	}
	look := func() {
		b.look(&h)
		b.net.scanAt, b.fabric.scanAt = 1<<62, 1<<62
		for _, at := range b.groups.at {
			at.read = b.groups.round + 1
		}
		out = b.lookAtGroups(of, out[:0])
	}
	look()
	if n := testing.AllocsPerRun(50, look); n > 0 {
		t.Errorf("%v allocations a look", n)
	}
	t.Logf("box %v; %d groups %v", h.Why, len(out), out)
}

// BenchmarkLook is what the box costs at each tick, on this machine.
func BenchmarkLook(b *testing.B) {
	root, now, _ := thisBox()
	x := newBox(root, now)
	defer x.close()
	var h profile.HostSample
	b.ReportAllocs()
	for b.Loop() {
		x.look(&h)
	}
}

// BenchmarkGroups is what the control groups of eight jobs cost each five seconds.
func BenchmarkGroups(b *testing.B) {
	root, now, _ := thisBox()
	x := newBox(root, now)
	defer x.close()
	var of []holder
	for _, p := range groupsHere(b, 8) {
		of = append(of, holder{process{p.PID, p.Start}, p.Owner()})
	}
	var out []profile.GroupSample
	b.ReportAllocs()
	for b.Loop() {
		out = x.lookAtGroups(of, out[:0])
	}
}

// BenchmarkWrap is what a wrapped source costs at a tick with processes, threads and all.
func BenchmarkWrap(b *testing.B) {
	root, now, _ := thisBox()
	s := wrap(&fixed{processes: groupsHere(b, 8)}, root, now)
	defer s.Close()
	var t profile.Tick
	b.ReportAllocs()
	for b.Loop() {
		t.Reset()
		if err := s.Read(context.Background(), &t); err != nil {
			b.Fatal(err)
		}
		time.Sleep(0)
	}
}

// A process that computes in a control group of this system shows as about one core at work, and holds
// memory.
func TestRealGroup(t *testing.T) {
	root := "/sys/fs/cgroup"
	dirs := []string{root}
	if _, err := os.Stat(root + "/cgroup.controllers"); err != nil {
		dirs = []string{root + "/cpuacct", root + "/memory", root + "/unified"}
	}
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "while :; do :; done"}, &os.ProcAttr{})
	if err != nil {
		t.Skipf("no shell: %v", err)
	}
	defer func() {
		_ = p.Kill()
		_, _ = p.Wait()
		for _, dir := range dirs {
			_ = os.Remove(dir + "/slurm-test/job_77")
			_ = os.Remove(dir + "/slurm-test")
		}
	}()
	for _, dir := range dirs {
		dir += "/slurm-test/job_77"
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = os.WriteFile(dir+"/cgroup.procs", []byte(strconv.Itoa(p.Pid)), 0o644)
		}
		if err != nil {
			t.Skipf("no control groups may be made here: %v", err)
		}
	}
	fs, now, _ := thisBox()
	b := newBox(fs, now)
	defer b.close()
	of := []holder{{process{int64(p.Pid), 1}, profile.Owner{User: "ana", Job: "77"}}}
	var h profile.HostSample
	b.look(&h)
	b.lookAtGroups(of, nil)
	time.Sleep(500 * time.Millisecond)
	b.look(&h)
	out := b.lookAtGroups(of, nil)
	if len(out) != 1 {
		t.Fatalf("%+v", out)
	}
	if v, ok := out[0].Get(profile.GroupCPU); !ok || v < 5 || v > 115 {
		t.Errorf("a process that computes takes %v %% of a core (%v)", v, out[0].Why[profile.GroupCPU])
	}
	if v, ok := out[0].Get(profile.GroupMemory); ok && v > 1<<30 {
		t.Errorf("a shell holds %v bytes", v)
	}
	t.Logf("%+v", out[0])
}
