package readings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"capcli/profile"
)

func systemDisk() Disk {
	return Disk{Open: func(name string) (fs.File, error) { return os.Open(name) }, Stat: os.Stat, Same: os.SameFile}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestFollow: a file that grows, is torn in the middle of a line, renamed, cut and made anew gives each line once.
func TestFollow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "train.log")
	write(t, name, "old=1\n")
	f := &follower{disk: systemDisk(), name: name}
	look := func(want ...string) {
		t.Helper()
		var got []string
		if err := f.look(func(line []byte) { got = append(got, string(line)) }); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	look()
	write(t, name, "a=1\nb=")
	look("a=1")
	write(t, name, "2\n")
	look("b=2")
	long := strings.Repeat("x", mostLine+10)
	write(t, name, long)
	look()
	write(t, name, "tail\nc=3\n")
	look("c=3")
	write(t, name, "d=4\n")
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	write(t, name+".1", "e=5\n")
	write(t, name, "f=6\n")
	look("d=4", "e=5")
	for range statEvery {
		if err := f.look(func(line []byte) {
			if string(line) != "f=6" {
				t.Fatalf("%q", line)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	write(t, name, "g=7\n")
	look("g=7")
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	look()
	write(t, name, "h=8\n")
	look("h=8")
}

// TestFollowNewFile: a file that is not there at first is read from its beginning.
func TestFollowNewFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "late.log")
	f := &follower{disk: systemDisk(), name: name}
	if err := f.look(nil); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	write(t, name, "a=1\n")
	n := 0
	if err := f.look(func([]byte) { n++ }); err != nil || n != 1 {
		t.Fatal(n, err)
	}
}

// box is a source of two devices, each with a process of a job.
type box struct{ devices [2]*profile.Device }

func newBox() *box {
	b := &box{}
	for i := range b.devices {
		b.devices[i] = &profile.Device{Index: i, UUID: fmt.Sprintf("GPU-%d", i), GI: -1, CI: -1}
	}
	return b
}

func (b *box) Read(_ context.Context, t *profile.Tick) error {
	t.LookedAtProcesses = true
	for i, d := range b.devices {
		t.NextSample(d)
		t.Processes = append(t.Processes, profile.Process{Device: d, PID: int64(4000 + i), User: "amara", Job: "88213"})
	}
	return nil
}
func (b *box) Host() string { return "box" }
func (b *box) Close() error { return nil }

// readAt reads one tick, seconds after the epoch.
func readAt(t *testing.T, w *Watch, second int) string {
	t.Helper()
	tick := &profile.Tick{At: profile.Instant(1_000_000_000_000_000 + int64(second)*1_000_000)}
	if err := w.Read(context.Background(), tick); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range tick.Readings {
		text := fmt.Sprintf("%s=%g", r.Name, math.Round(r.Value*1000)/1000)
		if r.Owner.Job != "" {
			text = r.Owner.Job + " " + text
		}
		if r.Owner.Pod != "" {
			text = r.Owner.Namespace + "/" + r.Owner.Pod + " " + text
		}
		if r.Device != nil {
			text += " on " + r.Device.UUID
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func TestReadingsOfFiles(t *testing.T) {
	dir := t.TempDir()
	ranks := []string{filepath.Join(dir, "rank.4000.jsonl"), filepath.Join(dir, "rank.4001.jsonl")}
	for _, r := range ranks {
		write(t, r, "")
	}
	w := NewWatch(newBox(), Options{Places: []Place{{Name: dir}}, Disk: systemDisk()})
	defer w.Close()
	if got := readAt(t, w, 0); got != "" {
		t.Fatal(got)
	}
	write(t, ranks[0], `{"tokens_per_s": 100, "mfu": 0.4, "loss": 2.1}`+"\n")
	write(t, ranks[1], `{"tokens_per_s": 90, "mfu": 0.36}`+"\n")
	if got, want := readAt(t, w, 1), "88213 tokens_per_s=100 on GPU-0; 88213 mfu_pct=40 on GPU-0; 88213 tokens_per_s=90 on GPU-1; 88213 mfu_pct=36 on GPU-1"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	// A counter beats a rate that the program tells, and is the rate over the time since it grew last.
	write(t, ranks[0], `{"step": 7, "tokens_total": 1000}`+"\n")
	readAt(t, w, 2)
	write(t, ranks[0], `{"step": 9, "tokens_total": 5000, "tokens_per_s": 1}`+"\n")
	if got, want := readAt(t, w, 12), "88213 step_s=5 on GPU-0; 88213 tokens_per_s=400 on GPU-0"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	// A program that begins again tells no negative rate.
	write(t, ranks[0], `{"step": 1, "tokens_total": 10}`+"\n")
	if got := readAt(t, w, 13); got != "" {
		t.Error(got)
	}
	// A line may name its rank.
	write(t, ranks[1], "local_rank=0 tokens_per_s=50\n")
	if got, want := readAt(t, w, 14), "88213 tokens_per_s=50 on GPU-1"; got != want { // the file's process is nearer
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestReadingsOfPages(t *testing.T) { synctest.Test(t, readingsOfPages) }

func readingsOfPages(t *testing.T) {
	count := 0
	fetch := func(context.Context, string) (io.ReadCloser, error) {
		count++
		return io.NopCloser(strings.NewReader(fmt.Sprintf("# TYPE vllm:generation_tokens counter\nvllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} %d\nvllm:generation_tokens_total{engine=\"1\",model_name=\"m\"} %d\nqueue_depth 3\n", 1000*count, 500*count))), nil
	}
	p, err := ParsePlace("http://127.0.0.1:8000/metrics#namespace=chat&pod=vllm-0&keep=queue_depth")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatch(newBox(), Options{Places: []Place{p}, Fetch: fetch})
	var got []string
	for i := range 31 {
		if text := readAt(t, w, i); text != "" {
			got = append(got, text)
		}
		synctest.Wait() // the page is asked beside the sampling
	}
	want := []string{"chat/vllm-0 queue_depth=3", "chat/vllm-0 tokens_per_s=150; chat/vllm-0 queue_depth=3", "chat/vllm-0 tokens_per_s=150; chat/vllm-0 queue_depth=3"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParsePlace(t *testing.T) {
	p, err := ParsePlace("train.log#job=7&tokens_per_s=speed/tok")
	if err != nil || p.Name != "train.log" || p.Owner.Job != "7" || p.Own["speed_tok"] != profile.ToldTokens || p.Page {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"", "#job=7", "a#colour=red", "a#%zz"} {
		if _, err := ParsePlace(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add("vllm:generation_tokens_total{pod=\"a\"} 1\nmfu 0.4\n")
	f.Fuzz(func(t *testing.T, text string) {
		out, err := readPage(context.Background(), "x", func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, newBook(nil))
		if err != nil {
			return
		}
		b := newBook(nil)
		for i := range out {
			b.note(&out[i].teller, &out[i].rule, out[i].value, 1_000_000)
		}
		b.take(2_000_000, func(_ *teller, _ string, v float64) {
			if !isFigure(v) {
				t.Fatalf("%g", v)
			}
		})
	})
}
