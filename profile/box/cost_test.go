package box

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"capcli/profile"
)

// server writes the files of a box of eight GPUs: 256 cores, ten network interfaces, eight InfiniBand
// ports, ten disks, and eight jobs. It gives a process of each job.
func (f *tree) server() (of []profile.Process) {
	var stat, disks strings.Builder
	stat.WriteString("cpu  130 0 110 770 120 10 10 50 0 0\n")
	for i := range 256 {
		fmt.Fprintf(&stat, "cpu%d 130000 0 110000 77000000 12000 10 10 50 0 0\n", i)
	}
	fmt.Fprintf(&stat, "intr 12345%s\n", strings.Repeat(" 0", 3000))
	f.put("proc/stat", stat.String(), "proc/meminfo", "MemTotal: 2113929216 kB\nMemFree: 1000 kB\nMemAvailable: 2000000000 kB\n"+strings.Repeat("Something:  12345 kB\n", 50))
	for _, what := range []string{"cpu", "io", "memory"} {
		f.put("proc/pressure/"+what, "some avg10=0.00 avg60=0.00 avg300=0.00 total=501000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=501000\n")
	}
	for i := range 10 {
		net := fmt.Sprintf("sys/class/net/ens%dnp0/", i)
		f.adapter(net, "device/vendor", "x", "type", "1\n", "phys_port_name", "p0\n", "statistics/rx_missed_errors", "0\n", "statistics/rx_dropped", "0\n", "statistics/tx_errors", "0\n")
		f.counters(net+"statistics/", 123456789012, 987654321098, 3)
		fmt.Fprintf(&disks, " 259 %d nvme%dn1 1000000 0 1000000000 5 200000 0 2000000000 5 0 9 9 0 0 0 0 0 0\n", 2*i, i)
		fmt.Fprintf(&disks, " 259 %d nvme%dn1p1 1000000 0 1000000000 5 200000 0 2000000000 5 0 9 9 0 0 0 0 0 0\n", 2*i+1, i)
		f.put(fmt.Sprintf("sys/block/nvme%dn1/device/model", i), "x")
	}
	f.put("proc/diskstats", disks.String(), "sys/fs/cgroup/cgroup.controllers", "cpu io memory")
	for i := range 8 {
		name := fmt.Sprintf("mlx5_%d", i)
		f.port(name, "400 Gb/sec (4X NDR)", 1<<50, 1<<51, 1)
		for _, e := range fabricErrors {
			f.put("sys/class/infiniband/"+name+"/ports/1/counters/"+e, "0\n")
		}
		job := fmt.Sprintf("system.slice/slurmstepd.scope/job_%d", 100+i)
		f.put(fmt.Sprintf("proc/%d/cgroup", 1000+i), "0::/"+job+"/step_0/user/task_0\n")
		f.second(job, 1<<40, 5, 1<<40, 1<<30, 1<<37, 1<<30)
		of = append(of, profile.Process{PID: int64(1000 + i), Job: fmt.Sprint(100 + i), Start: 5})
	}
	return of
}

// BenchmarkServer is what a tick with processes costs on a large box, without what its drivers do.
func BenchmarkServer(b *testing.B) {
	f := newTree(b)
	s := wrap(&fixed{processes: f.server()}, os.DirFS(f.dir), func() time.Duration { return f.at })
	defer s.Close()
	var t profile.Tick
	b.ReportAllocs()
	for b.Loop() {
		f.at += time.Second // errors are read each five ticks
		t.Reset()
		if err := s.Read(context.Background(), &t); err != nil || len(t.Groups) != 8 {
			b.Fatal(err, len(t.Groups))
		}
	}
}

// A day of looks at a large box, or the first ten minutes of it, does not grow. CAPCLI_DAY=1 is the whole
// day.
func TestDayOfLooks(t *testing.T) {
	f := newTree(t)
	root := os.DirFS(f.dir)
	in := &fixed{}
	holders := f.server()
	s := wrap(in, root, func() time.Duration { return f.at })
	defer s.Close()
	ticks := 600
	if os.Getenv("CAPCLI_DAY") != "" {
		ticks = 86400
	}
	var tick profile.Tick
	var early uint64
	for i := range ticks {
		f.at += time.Second
		in.processes = nil
		if i%5 == 0 {
			in.processes = holders
		}
		tick.Reset()
		if err := s.Read(context.Background(), &tick); err != nil {
			t.Fatal(err)
		}
		if _, ok := tick.Host.Get(profile.FabricTx); !ok && i > 0 {
			t.Fatalf("tick %d: %+v", i, tick.Host)
		}
		if i == ticks/10 {
			early = heapNow()
		}
	}
	if late := heapNow(); late > early+256<<10 {
		t.Errorf("%d bytes of heap, %d at first", late, early)
	}
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
