package box

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"capcli/profile"
)

// tree is a made-up file system of a box, in a folder of the test.
type tree struct {
	t   testing.TB
	dir string
	at  time.Duration
}

func newTree(t testing.TB) *tree { return &tree{t: t, dir: t.TempDir()} }

// put writes files, pairs of name and content, in place: a file that is open sees it.
func (f *tree) put(files ...string) {
	f.t.Helper()
	for i := 0; i+1 < len(files); i += 2 {
		name := filepath.Join(f.dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *tree) remove(name string) {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *tree) box() *box {
	b := newBox(os.DirFS(f.dir), func() time.Duration { return f.at })
	f.t.Cleanup(b.close)
	return b
}

// usual writes a box with a network interface, a disk and an InfiniBand port.
func (f *tree) usual() {
	f.put(
		"proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\nintr 5 1\n",
		"proc/meminfo", "MemTotal:       24684092 kB\nMemFree:        1 kB\nMemAvailable:   2048 kB\n",
		"proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0 avg60=0 avg300=0 total=1\n",
		"proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000\nfull avg10=0 avg60=0 avg300=0 total=1\n",
		"proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"proc/diskstats", " 259 0 nvme0n1 10 0 1000 5 20 0 2000 5 0 9 9\n 259 1 nvme0n1p1 10 0 900 5 20 0 1900 5 0 9 9\n 253 0 dm-0 1 0 1000 5 2 0 2000 5 0 0 0\n",
		"sys/block/nvme0n1/device/model", "x",
		"sys/block/dm-0/size", "1",
	)
	f.adapter("sys/class/net/eth0/", "device/vendor", "x", "type", "1\n")
	f.counters("sys/class/net/eth0/statistics/", 1<<20, 2<<20, 3)
	f.port("mlx5_0", "400 Gb/sec (4X NDR)", 1000, 2000, 1)
}

func (f *tree) adapter(dir string, files ...string) {
	for i := 0; i+1 < len(files); i += 2 {
		f.put(dir+files[i], files[i+1])
	}
}

func (f *tree) counters(dir string, tx, rx, faults uint64) {
	f.put(dir+"tx_bytes", fmt.Sprintln(tx), dir+"rx_bytes", fmt.Sprintln(rx), dir+"rx_errors", fmt.Sprintln(faults), dir+"tx_dropped", "0\n")
}

func (f *tree) port(name, rate string, tx, rx, down uint64) {
	dir := "sys/class/infiniband/" + name + "/ports/1/"
	f.put(dir+"rate", rate+"\n", dir+"counters/port_xmit_data", fmt.Sprintln(tx), dir+"counters/port_rcv_data", fmt.Sprintln(rx),
		dir+"counters/link_downed", fmt.Sprintln(down), dir+"counters/symbol_error", "0\n")
}

type want map[profile.HostMetric]any // a value, or a reason

func (f *tree) check(h *profile.HostSample, want want) {
	f.t.Helper()
	for m := range profile.NumHostMetrics {
		switch w := want[m].(type) {
		case nil:
		case profile.Reason:
			if h.Why[m] != w || h.Values[m] != 0 {
				f.t.Errorf("%v is %v (%v), want %v", m, h.Values[m], h.Why[m], w)
			}
		case float64:
			if v, ok := h.Get(m); !ok || math.Abs(v-w) > 1e-9 {
				f.t.Errorf("%v is %v (%v), want %v", m, v, h.Why[m], w)
			}
		}
	}
}

func TestHost(t *testing.T) {
	f := newTree(t)
	f.usual()
	b := f.box()
	var h profile.HostSample
	b.look(&h)
	f.check(&h, want{
		profile.HostCPU: profile.First, profile.HostIOWait: profile.First, profile.HostMemFree: 2048.0 * 1024, profile.CPUPressure: profile.First,
		profile.DiskRead: profile.First, profile.NetTx: profile.First, profile.NetErrors: 3.0, profile.FabricRx: profile.First, profile.FabricErrors: 1.0,
	})
	f.at += 2 * time.Second
	const mib = 1 << 20
	f.put("proc/stat", "cpu  130 0 110 770 120 10 10 50 0 0\n",
		"proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=501000\n", "proc/pressure/io", "some total=3002000\n",
		"proc/diskstats", " 259 0 nvme0n1 10 0 9192 5 20 0 18384 5 0 9 9\n 259 1 nvme0n1p1 10 0 9092 5 20 0 90000 5 0 9 9\n 253 0 dm-0 1 0 9000 5 2 0 90000 5 0 0 0\n")
	f.counters("sys/class/net/eth0/statistics/", 11*mib, 6*mib, 5)
	f.port("mlx5_0", "400 Gb/sec (4X NDR)", 1000+2*25*mib, 2000+mib, 3)
	b.look(&h)
	f.check(&h, want{
		// Of 200 ticks 60 worked, 20 waited, 50 were stolen and 70 idle.
		profile.HostCPU: 30.0, profile.HostIOWait: 10.0, profile.CPUPressure: 25.0, profile.IOPressure: 100.0, profile.MemPressure: 0.0,
		profile.DiskRead: 2.0, profile.DiskWrite: 4.0, profile.NetTx: 5.0, profile.NetRx: 2.0, profile.FabricTx: 100.0, profile.FabricRx: 2.0,
		profile.NetErrors: 3.0, profile.FabricErrors: 1.0, // looked at each five seconds
	})
	f.at += 4 * time.Second
	b.look(&h)
	f.check(&h, want{profile.NetErrors: 5.0, profile.FabricErrors: 3.0, profile.NetTx: 0.0, profile.DiskRead: 0.0})
}

// What a box does not have is missing, never 0.
func TestHostLacksAll(t *testing.T) {
	f := newTree(t)
	b := f.box()
	var h profile.HostSample
	for range 3 {
		b.look(&h)
		for m := range profile.NumHostMetrics {
			if h.Why[m] != profile.Unsupported || h.Values[m] != 0 {
				t.Errorf("%v is %v (%v)", m, h.Values[m], h.Why[m])
			}
		}
		f.at += time.Second
	}
	// It may come later.
	f.usual()
	f.at += 2 * openAgain
	b.look(&h)
	f.at += time.Second
	b.look(&h)
	f.check(&h, want{profile.HostIOWait: profile.First, profile.NetTx: 0.0, profile.DiskRead: 0.0, profile.FabricTx: 0.0, profile.IOPressure: 0.0})
}

// Interfaces without hardware, those that another counts, and IPoIB do not count.
func TestWhichInterfacesCount(t *testing.T) {
	f := newTree(t)
	f.usual()
	net := "sys/class/net/"
	f.adapter(net+"lo/", "type", "772\n")
	f.adapter(net+"bond0/", "type", "1\n", "bonding/mode", "x")
	f.adapter(net+"ens1/", "type", "1\n", "device/vendor", "x", "master/bonding/mode", "x") // counts: its master has no device
	f.adapter(net+"vf0/", "type", "1\n", "device/vendor", "x", "master/device/vendor", "x") // behind a virtual NIC
	f.adapter(net+"ib0/", "type", "32\n", "device/vendor", "x")
	f.adapter(net+"rep0/", "type", "1\n", "device/vendor", "x", "phys_port_name", "pf0vf3\n")
	f.adapter(net+"p0/", "type", "1\n", "device/vendor", "x", "phys_port_name", "p0\n")
	names, why := f.box().interfaces()
	if got := strings.Join(names, " "); got != "ens1 eth0 p0" || why != profile.Known {
		t.Errorf("%s (%v)", got, why)
	}
}

// An interface that comes does not count with what it had carried before, one that goes does not take the
// sum away, and a counter that begins anew leaves the sum unknown once.
func TestInterfacesComeAndGo(t *testing.T) {
	f := newTree(t)
	f.usual()
	b := f.box()
	var h profile.HostSample
	step := func(eth0 uint64) {
		f.at += time.Second
		f.counters("sys/class/net/eth0/statistics/", eth0<<20, 0, 3)
		b.look(&h)
	}
	step(10)
	step(12)
	f.check(&h, want{profile.NetTx: 2.0})
	f.adapter("sys/class/net/eth1/", "type", "1", "device/vendor", "x")
	f.counters("sys/class/net/eth1/statistics/", 1<<40, 1<<40, 1000)
	f.at += scanEvery
	b.look(&h)
	f.check(&h, want{profile.NetErrors: 3.0})
	if h.Why[profile.NetTx] != profile.Known {
		t.Errorf("net is %v", h.Why[profile.NetTx])
	}
	f.counters("sys/class/net/eth1/statistics/", 1<<40+4<<20, 1<<40, 1007)
	step(18)
	f.check(&h, want{profile.NetTx: 10.0})
	f.remove("sys/class/net/eth1")
	f.at += scanEvery
	step(18)
	step(21)
	f.check(&h, want{profile.NetTx: 3.0})
	step(1)
	f.check(&h, want{profile.NetTx: profile.First})
	step(2)
	f.check(&h, want{profile.NetTx: 1.0})
}

// What interfaces and ports carry is the sum of those that are up; one that does not tell makes it unknown.
func TestPeaks(t *testing.T) {
	f := newTree(t)
	f.usual()
	f.put("sys/class/net/eth0/speed", "100000\n", "sys/class/net/eth0/operstate", "up\n", "sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n")
	f.adapter("sys/class/net/eth1/", "type", "1", "device/vendor", "x", "operstate", "down\n", "speed", "-1\n")
	f.port("mlx5_1", "200 Gb/sec (4X HDR)", 0, 0, 0)
	f.put("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n")
	b := f.box()
	var h profile.HostSample
	b.look(&h)
	f.check(&h, want{profile.NetPeak: 11921.0, profile.FabricPeak: 47684.0})
	f.put("sys/class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n", "sys/class/net/eth1/operstate", "up\n")
	f.at += scanEvery
	b.look(&h)
	f.check(&h, want{profile.NetPeak: profile.Unsupported, profile.FabricPeak: 71526.0})
}

// A counter of 32 bits may go round once between two looks, where the port is too slow for twice.
func TestNarrowCounters(t *testing.T) {
	for _, c := range []struct {
		was, now uint64
		rate     string
		want     any
	}{
		{1<<32 - 500, 1<<20 - 500, "40 Gb/sec (4X QDR)", 4.0},
		{1<<32 - 500, 1<<20 - 500, "400 Gb/sec (4X NDR)", profile.First}, // 50 GB/s goes round three times
		{1<<32 - 500, 1<<20 - 500, "?", profile.First},
		{1 << 31, 5, "40 Gb/sec (4X QDR)", profile.First}, // began anew: 8 GiB do not pass in a second
		{1<<32 - 1, 1<<32 - 1, "40 Gb/sec (4X QDR)", profile.OutOfRange},
		{1<<40 + 5, 1<<40 + 5 + 1<<20, "400 Gb/sec", 4.0},
		{1<<40 + 5, 5, "400 Gb/sec", profile.First},
	} {
		f := newTree(t)
		f.port("mlx4_0", c.rate, c.was, 0, 0)
		b := f.box()
		var h profile.HostSample
		b.look(&h)
		f.at += time.Second
		f.port("mlx4_0", c.rate, c.now, 0, 0)
		b.look(&h)
		t.Logf("%d to %d at %s", c.was, c.now, c.rate)
		f.check(&h, want{profile.FabricTx: c.want})
	}
}

// Old adapters have counters of 64 bits elsewhere, EFA counts bytes.
func TestPortsOfOtherForms(t *testing.T) {
	f := newTree(t)
	efa, old := "sys/class/infiniband/rdmap0/ports/1/", "sys/class/infiniband/mlx4_0/ports/1/"
	f.put(efa+"hw_counters/tx_bytes", "0", efa+"hw_counters/rx_bytes", "0", efa+"hw_counters/rx_drops", "2",
		old+"counters_ext/port_xmit_data_64", "0", old+"counters_ext/port_rcv_data_64", "0", old+"counters/port_xmit_data", "4294967295")
	b := f.box()
	var h profile.HostSample
	b.look(&h)
	f.at += time.Second
	f.put(efa+"hw_counters/tx_bytes", fmt.Sprint(8<<20), old+"counters_ext/port_xmit_data_64", fmt.Sprint(1<<20))
	b.look(&h)
	f.check(&h, want{profile.FabricTx: 12.0, profile.FabricRx: 0.0, profile.FabricErrors: 2.0})
}

// A file that may not be read is told as such.
func TestNoPermission(t *testing.T) {
	f := newTree(t)
	f.usual()
	b := newBox(guarded{os.DirFS(f.dir)}, func() time.Duration { return f.at })
	var h profile.HostSample
	b.look(&h)
	f.check(&h, want{profile.IOPressure: profile.NoPermission, profile.CPUPressure: profile.First})
}

type guarded struct{ fs.FS }

func (g guarded) Open(name string) (fs.File, error) {
	if name == "proc/pressure/io" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return g.FS.Open(name)
}

// fixed is a source of the same tick.
type fixed struct {
	processes []profile.Process
	err       error
	closed    bool
}

func (s *fixed) Read(_ context.Context, t *profile.Tick) error {
	t.Processes = append(t.Processes, s.processes...)
	t.LookedAtProcesses = s.processes != nil
	return s.err
}
func (s *fixed) Host() string { return "box-1" }
func (s *fixed) Close() error { s.closed = true; return nil }

func TestWrap(t *testing.T) {
	f := newTree(t)
	f.usual()
	f.put("sys/fs/cgroup/cgroup.controllers", "cpu", "proc/7/cgroup", "0::/slurm/job_42/step_0\n", "sys/fs/cgroup/slurm/job_42/memory.current", "5",
		"sys/fs/cgroup/slurm/job_42/memory.stat", "file 3\nshmem 1\n")
	in := &fixed{processes: []profile.Process{{PID: 7, Job: "42"}}}
	var now atomic.Int64 // the box is read on a goroutine of its own
	s := wrap(in, os.DirFS(f.dir), func() time.Duration { return time.Duration(now.Load()) })
	var tick profile.Tick
	read := func() {
		now.Add(int64(time.Second))
		tick.Reset()
		if err := s.Read(t.Context(), &tick); err != nil {
			t.Fatal(err)
		}
	}
	read()
	read()
	if !tick.LookedAtHost || tick.Host.Why[profile.NetTx] != profile.Known || len(tick.Groups) != 1 || tick.Groups[0].Owner.Job != "42" {
		t.Errorf("got %+v", tick)
	}
	if v, _ := tick.Groups[0].Get(profile.GroupMemory); v != 3 {
		t.Errorf("memory %v", v)
	}
	in.processes = nil
	read()
	if len(tick.Groups) > 0 || !tick.LookedAtHost {
		t.Errorf("got %+v", tick)
	}
	in.err = errors.New("no GPU")
	for range 3 {
		tick.Reset()
		if err := s.Read(t.Context(), &tick); !errors.Is(err, in.err) {
			t.Fatal(err)
		}
	}
	in.err = nil
	for tick.Host.Why[profile.NetTx] != profile.Known || !tick.LookedAtHost { // the last look is still under way
		read()
	}
	if err := s.Close(); err != nil || !in.closed || s.Host() != "box-1" {
		t.Errorf("close: %v, %v", err, in.closed)
	}
}

// A file that does not answer makes the box's figures missing, not the tick late.
func TestStuckFile(t *testing.T) {
	f := newTree(t)
	f.usual()
	free := make(chan struct{})
	s := wrap(&fixed{}, stuck{os.DirFS(f.dir), free}, func() time.Duration { return f.at })
	var tick profile.Tick
	for range 3 {
		tick.Reset()
		if err := s.Read(t.Context(), &tick); err != nil || tick.Host.Why[profile.HostCPU] != profile.Timeout {
			t.Fatalf("%v, %v", err, tick.Host.Why[profile.HostCPU])
		}
	}
	close(free)
	for tick.Host.Why[profile.HostMemFree] != profile.Known {
		time.Sleep(time.Millisecond)
		tick.Reset()
		if err := s.Read(t.Context(), &tick); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
}

type stuck struct {
	fs.FS
	free chan struct{}
}

func (s stuck) Open(name string) (fs.File, error) {
	if name == "proc/stat" {
		<-s.free
	}
	return s.FS.Open(name)
}
