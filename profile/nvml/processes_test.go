//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

func TestFakeProcesses(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		root := procRoot()
		process(root, "100", "python3", "python3\x00train.py\x00", "1000", "0::/system.slice/slurmstepd.scope/job_42/step_0\n", "")
		process(root, "101", "vllm", "vllm\x00serve\x00", "0", "0::/kubepods/pod"+uid+"/"+idA+"\n", "POD_NAME=chat-0\x00POD_NAMESPACE=prod\x00")
		root["run/jobs/1"] = file("77\n")
		f.set("0.compute", "100:1073741824 101:max 102:99999999999999", "0.mps", "101:max", "0.graphics", "100:1073741824 103:4096",
			"1.compute", "104:2048", "0.share", "100:99:500", "0.util", 80)
		s := f.open(profile.SourceOptions{Processes: time.Hour, JobDir: "/run/jobs"}, root)
		look := func() map[int64]profile.Process {
			t.Helper()
			s.processAt = -2 * time.Hour
			tick := see(t, s)
			if !tick.LookedAtProcesses {
				t.Fatal("no look at processes")
			}
			list := map[int64]profile.Process{}
			for _, p := range tick.Processes {
				if _, twice := list[p.PID]; twice {
					t.Errorf("process %d twice", p.PID)
				}
				list[p.PID] = p
			}
			return list
		}
		list := look()
		if see(t, s).LookedAtProcesses {
			t.Error("processes are looked at in each tick")
		}
		if len(list) != 5 {
			t.Fatalf("processes %+v, want five", list)
		}
		p := list[100]
		if p.Device.UUID != gpu0 || p.Kind != "compute" || p.MemBytes != gib || p.MemWhy != profile.Known || p.User != "ada" ||
			p.Command != "python3 train.py" || p.Job != "42" || p.Start != 1700000060 || p.SMWhy != profile.First {
			t.Errorf("process 100 is %+v", p)
		}
		p = list[101]
		if p.Kind != "mps" || p.MemWhy != profile.Unsupported || p.MemBytes != 0 || p.Container != idA || p.Pod != "chat-0" || p.Namespace != "prod" || p.Job != "" {
			t.Errorf("process 101 is %+v", p)
		}
		if p = list[102]; p.MemWhy != profile.OutOfRange || p.Start != capcli.NoTime || p.User != "" {
			t.Errorf("process 102 is %+v, want unknown but for its number", p)
		}
		if p = list[103]; p.Kind != "graphics" || p.MemBytes != 4096 {
			t.Errorf("process 103 is %+v", p)
		}
		if p = list[104]; p.Device.UUID != gpu1 || p.Job != "77" {
			t.Errorf("process 104 is %+v, want the job that the directory says", p)
		}

		// Nothing newer than 500: of a busy GPU nothing is known, of an idle one it is 0.
		if p = look()[100]; p.SMWhy != profile.NotAsked {
			t.Errorf("process 100 has share %v (%s), want none", p.SMPct, p.SMWhy)
		}
		f.set("0.util", 0)
		if p = look()[100]; p.SMWhy != profile.Known || p.SMPct != 0 {
			t.Errorf("process 100 has share %v (%s), want 0", p.SMPct, p.SMWhy)
		}
		f.set("0.share", "100:61:600 100:63:602 100:62:601 101:4000:600", "0.util", 80)
		list = look()
		if p = list[100]; p.SMWhy != profile.Known || p.SMPct != 63 {
			t.Errorf("process 100 has share %v (%s), want the latest, 63", p.SMPct, p.SMWhy)
		}
		if p = list[101]; p.SMWhy != profile.OutOfRange {
			t.Errorf("process 101 has share %v (%s)", p.SMPct, p.SMWhy)
		}
		if p = list[102]; p.SMWhy != profile.Known || p.SMPct != 0 {
			t.Errorf("process 102 has share %v (%s), want 0: it is not in a list that came", p.SMPct, p.SMWhy)
		}
		// GPU 1 had nothing to tell at first; it must not be asked from 0 again.
		if n := f.calls("lastSeen0"); n != 2 {
			t.Errorf("shares were asked without a time %d times, want once a GPU", n)
		}

		// A list that grows while it is read.
		var many []string
		for pid := range 300 {
			many = append(many, fmt.Sprintf("%d:1024", 1000+pid))
		}
		f.set("0.compute", strings.Join(many, " "), "0.mps", nil, "0.graphics", nil)
		if list = look(); len(list) != 301 {
			t.Errorf("%d processes, want 301", len(list))
		}
		f.set("fail nvmlDeviceGetComputeRunningProcesses_v3 0", 4)
		if list = look(); len(list) != 301 {
			t.Errorf("%d processes, want those that were there", len(list))
		}
		s.gpus[0].listedAt = -time.Hour
		if list = look(); len(list) != 1 {
			t.Errorf("%d processes after a minute without a list, want that of GPU 1", len(list))
		}
	})
}

// A look at processes comes early when memory use moved.
func TestFakeProcessesOnMemory(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("compute", "5:1024")
		s := f.open(profile.SourceOptions{Processes: time.Hour}, nil)
		if !see(t, s).LookedAtProcesses {
			t.Error("the first tick does not look at processes")
		}
		f.set("0.used", 60*gib)
		if see(t, s).LookedAtProcesses {
			t.Error("looked before the memory was seen")
		}
		s.processAt -= 2 * time.Second
		if tick := see(t, s); !tick.LookedAtProcesses || len(tick.Processes) != 2 {
			t.Error("memory moved, and there was no look at processes")
		}
		s.processAt -= 2 * time.Second
		if see(t, s).LookedAtProcesses {
			t.Error("looked again, though nothing moved")
		}
	})
}

// stuck is a file system of which one file does not answer.
type stuck struct {
	fs.FS
	name    string
	release chan struct{}
}

func (s stuck) Open(name string) (fs.File, error) {
	if name == s.name {
		<-s.release
		return nil, errors.New("interrupted")
	}
	return s.FS.Open(name)
}

func (s stuck) ReadLink(name string) (string, error)   { return fs.ReadLink(s.FS, name) }
func (s stuck) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(s.FS, name) }

// A process whose files cannot be read holds up nothing but its own name.
func TestFakeStuckProcess(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		root := procRoot()
		process(root, "100", "python3", "python3\x00", "1000", "0::/\n", "")
		held := stuck{root, "proc/100/cmdline", make(chan struct{})}
		f.set("0.compute", "100:1024")
		f.patience = hangs
		s := f.open(profile.SourceOptions{Every: 200 * time.Millisecond, Processes: time.Hour}, held)
		for range 3 {
			s.processAt = -2 * time.Hour
			tick := see(t, s)
			if len(tick.Processes) != 1 || tick.Processes[0].PID != 100 || tick.Processes[0].User != "" {
				t.Fatalf("processes %+v, want 100 by number", tick.Processes)
			}
			wantValues(t, sampleOf(t, tick, gpu0), values{profile.UtilGPU: 50})
		}
		close(held.release)
		sampleUntil(t, s, 20*time.Millisecond, func(tick *profile.Tick) bool {
			s.processAt = -2 * time.Hour
			return len(tick.Processes) == 1 && tick.Processes[0].User == "ada"
		})
	})
}
