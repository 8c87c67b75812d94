//go:build linux && cgo

package nvml

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"capcli/profile"
)

// The tests named TestFake… drive the whole path into C, against a library that
// the test compiles from testdata/fake.c. What one process has called stays bound
// to the first library it loaded, so each of these tests runs in a process of its
// own: the test binary runs itself for that one test.

var libraries struct {
	sync.Mutex
	dir  string
	made map[string]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if libraries.dir != "" {
		os.RemoveAll(libraries.dir)
	}
	os.Exit(code)
}

// compile makes the fake library, with what -D names defined.
func compile(t testing.TB, define string) string {
	t.Helper()
	libraries.Lock()
	defer libraries.Unlock()
	if path := libraries.made[define]; path != "" {
		return path
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc to compile the stand-in for NVIDIA's library with")
	}
	header, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-nvml").Output()
	if err != nil {
		t.Skipf("no go command to find go-nvml's nvml.h with: %v", err)
	}
	if libraries.dir == "" {
		if libraries.dir, err = os.MkdirTemp("", "fake-nvml-"); err != nil {
			t.Fatal(err)
		}
		libraries.made = map[string]string{}
	}
	path := filepath.Join(libraries.dir, "libnvidia-ml-"+define+".so.1")
	out, err := exec.Command(gcc, "-std=gnu11", "-shared", "-fPIC", "-O1", "-Wno-deprecated-declarations", "-D"+define,
		"-I", filepath.Join(strings.TrimSpace(string(header)), "pkg", "nvml"),
		"-Wl,-soname,libnvidia-ml.so.1", "-o", path, filepath.Join("testdata", "fake.c")).CombinedOutput()
	if err != nil {
		t.Fatalf("compile the fake library: %v\n%s", err, out)
	}
	libraries.made[define] = path
	return path
}

const (
	childOf    = "CAPCLI_NVML_CHILD"
	libraryVar = "CAPCLI_NVML_LIBRARY"
)

// withFake runs story in a process of its own that has the fake library.
func withFake(t *testing.T, define string, story func(*testing.T, *fake)) {
	t.Helper()
	if os.Getenv(childOf) == t.Name() {
		story(t, newFake(t, os.Getenv(libraryVar)))
		return
	}
	t.Parallel()
	path := compile(t, define)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), childOf+"="+t.Name(), libraryVar+"="+path)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
}

// fake is what the fake library is told.
type fake struct {
	t       testing.TB
	library string
	file    string
	log     string
	lines   map[string]string
	// patience of the source: long, for a machine that is busy with other tests,
	// but where a test is about calls that hang.
	patience time.Duration
}

const hangs = 1500 * time.Millisecond

func newFake(t testing.TB, library string) *fake {
	t.Helper()
	dir := t.TempDir()
	f := &fake{t: t, library: library, file: filepath.Join(dir, "told"), log: filepath.Join(dir, "calls"), lines: map[string]string{}, patience: 10 * time.Minute}
	t.Setenv("FAKE_NVML", f.file)
	t.Setenv("FAKE_NVML_LOG", f.log)
	f.set("count", 2)
	return f
}

// set tells the library keys and values; nil takes a key back.
func (f *fake) set(told ...any) {
	f.t.Helper()
	for i := 0; i+1 < len(told); i += 2 {
		key := told[i].(string)
		if told[i+1] == nil {
			delete(f.lines, key)
		} else {
			f.lines[key] = fmt.Sprint(told[i+1])
		}
	}
	var b strings.Builder
	b.WriteString("#\n")
	for _, key := range slices.Sorted(maps.Keys(f.lines)) {
		b.WriteString(strings.TrimRight(key+" "+f.lines[key], " ") + "\n")
	}
	// In one step, so that no call reads half of it.
	if err := os.WriteFile(f.file+"~", []byte(b.String()), 0o644); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.file+"~", f.file); err != nil {
		f.t.Fatal(err)
	}
}

// calls counts the calls of a function so far.
func (f *fake) calls(symbol string) int { return f.count(symbol + " ") }

// callsOf counts those about one GPU.
func (f *fake) callsOf(symbol string, gpu int) int {
	return f.count(fmt.Sprintf("%s %d\n", symbol, gpu))
}

func (f *fake) count(begin string) int {
	text, err := os.ReadFile(f.log)
	if err != nil {
		return 0
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, begin) {
			n++
		}
	}
	return n
}

// box is a box without processes.
func (f *fake) box(root fs.FS) outside {
	out := theBox()
	out.host, out.root = "box-1", root
	out.userName = func(string) string { return "" }
	out.patience = f.patience
	return out
}

func (f *fake) open(o profile.SourceOptions, root fs.FS) *source {
	f.t.Helper()
	if root == nil {
		root = fstest.MapFS{}
	}
	l, c := findLibrary(f.library, root)
	if c != success {
		f.t.Fatalf("load %s: %s", f.library, c)
	}
	s, err := open(l, o, f.box(root))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { s.Close() })
	return s
}

// see reads once.
func see(t testing.TB, s *source) *profile.Tick {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var tick profile.Tick
	if err := s.Read(ctx, &tick); err != nil {
		t.Fatal(err)
	}
	return &tick
}

// waitApart waits until GPM may be asked again.
func waitApart() { time.Sleep(gpmApart + 10*time.Millisecond) }

// sampleOf finds the sample of a device by UUID.
func sampleOf(t testing.TB, tick *profile.Tick, uuid string) *profile.Sample {
	t.Helper()
	var found *profile.Sample
	for i := range tick.Samples {
		if tick.Samples[i].Device.UUID == uuid {
			if found != nil {
				t.Fatalf("two samples of %s", uuid)
			}
			found = &tick.Samples[i]
		}
	}
	if found == nil {
		t.Fatalf("no sample of %s", uuid)
	}
	return found
}

const gpu0, gpu1 = "GPU-00000000-0000-0000-0000-000000000000", "GPU-00000001-0000-0000-0000-000000000000"

type values map[profile.Metric]float64

type reasons map[profile.Metric]profile.Reason

func wantValues(t testing.TB, s *profile.Sample, want values) {
	t.Helper()
	for m := range profile.NumMetrics {
		v, ok := want[m]
		if !ok {
			continue
		}
		// What is kept is rounded to the metric's resolution.
		if got, known := s.Get(m); !known || math.Abs(got-v) > profile.Metrics[m].Step/2 {
			t.Errorf("%s of %s is %v (%s), want %v", m, s.Device.UUID, got, s.Why[m], v)
		}
	}
}

func wantReasons(t testing.TB, s *profile.Sample, want reasons) {
	t.Helper()
	for m := range profile.NumMetrics {
		r, ok := want[m]
		if !ok {
			continue
		}
		if s.Why[m] != r || s.Values[m] != 0 {
			t.Errorf("%s of %s is %v (%s), want none: %s", m, s.Device.UUID, s.Values[m], s.Why[m], r)
		}
	}
}

// event finds the first event of a kind.
func event(tick *profile.Tick, k profile.EventKind) *profile.Event {
	for i := range tick.Events {
		if tick.Events[i].Kind == k {
			return &tick.Events[i]
		}
	}
	return nil
}

// until reads until ok, and gives all events on the way. What does not come about
// ends with the time of the test as a whole.
func sampleUntil(t testing.TB, s *source, pause time.Duration, ok func(*profile.Tick) bool) (*profile.Tick, []profile.Event) {
	t.Helper()
	var events []profile.Event
	for ; ; time.Sleep(pause) {
		tick := see(t, s)
		events = append(events, tick.Events...)
		if ok(tick) {
			return tick, events
		}
	}
}

func kinds(events []profile.Event) string {
	var b strings.Builder
	for i, e := range events {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(e.Kind))
	}
	return b.String()
}
