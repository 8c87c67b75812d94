package kubelet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"capcli/profile"
)

// box is a source of three GPUs whose processes a test sets.
type box struct {
	devices   []*profile.Device
	processes []profile.Process
	closed    bool
}

func (b *box) Read(_ context.Context, t *profile.Tick) error {
	for _, d := range b.devices {
		t.NextSample(d)
	}
	t.Processes, t.LookedAtProcesses = append(t.Processes, b.processes...), true
	return nil
}
func (b *box) Host() string { return "node" }
func (b *box) Close() error { b.closed = true; return nil }

// told is a kubelet whose answer a test sets.
type told struct {
	sync.Mutex
	list  []Holding
	err   error
	asked int
}

func (k *told) Holdings(context.Context, string) ([]Holding, error) {
	k.Lock()
	defer k.Unlock()
	k.asked++
	return k.list, k.err
}
func (k *told) Close() {}

func (k *told) count() int {
	k.Lock()
	defer k.Unlock()
	return k.asked
}

func TestPodsOfGPUs(t *testing.T) {
	b := &box{}
	for i := range 4 {
		b.devices = append(b.devices, &profile.Device{UUID: fmt.Sprintf("GPU-%d", i), Index: i, GI: -1})
	}
	process := func(gpu int, pid int64, pod, namespace string) profile.Process {
		return profile.Process{Device: b.devices[gpu], PID: pid, Pod: pod, Namespace: namespace}
	}
	const uid = "0a1b2c3d-0000-4000-8000-0123456789ab"
	b.processes = []profile.Process{
		process(0, 10, "", ""), process(0, 11, uid, ""), // of the one pod that holds GPU 0
		process(1, 12, "chat-0", "web"),       // of one of the two that share GPU 1
		process(3, 13, "daemon", "gpu-tools"), // on a GPU that the kubelet gave to nobody
	}
	k := &told{list: []Holding{
		{"lab", "train", "main", "nvidia.com/gpu", []string{"GPU-0"}},
		{"web", "chat-0", "main", "nvidia.com/gpu", []string{"GPU-1::0"}},
		{"web", "chat-1", "main", "nvidia.com/gpu", []string{"GPU-1::1", "GPU-1::2"}},
		{"lab", "forgotten", "main", "nvidia.com/gpu", []string{"GPU-2"}},
	}}
	s := Wrap(b, k)
	at := profile.Instant(1_800_000_000_000_000)
	read := func(later time.Duration) []string {
		at = at.Add(later)
		tick := profile.Tick{At: at}
		if err := s.Read(t.Context(), &tick); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, p := range tick.Processes {
			out = append(out, fmt.Sprintf("%d %d %s/%s", p.Device.Index, p.PID, p.Namespace, p.Pod))
		}
		return out
	}
	settle := func() { // until the answer to the last question is there
		for s := s.(*source); len(s.got) == 0; {
			time.Sleep(time.Millisecond)
		}
	}
	read(time.Second)
	settle()
	want := []string{"0 10 lab/train", "0 11 lab/train", "1 12 web/chat-0", "3 13 gpu-tools/daemon", "1 0 web/chat-1", "2 0 lab/forgotten"}
	for range 3 {
		if got := read(time.Second); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if n := k.count(); n != 1 {
		t.Errorf("asked %d times in four seconds", n)
	}
	// A kubelet that starts again does not answer for a while.
	k.Lock()
	k.err = errors.New("gone")
	k.Unlock()
	read(time.Minute)
	settle()
	if got := read(time.Second); !slices.Equal(got, want) {
		t.Errorf("after a minute without an answer: %q", got)
	}
	bare := []string{"0 10 /", "0 11 /" + uid, "1 12 web/chat-0", "3 13 gpu-tools/daemon"}
	if got := read(5 * time.Minute); !slices.Equal(got, bare) {
		t.Errorf("after five minutes without an answer: %q", got)
	}
	if err := s.Close(); err != nil || !b.closed {
		t.Errorf("closed %v, %v", b.closed, err)
	}
}
