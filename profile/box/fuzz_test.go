package box

import (
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"capcli/profile"
)

// FuzzFiles: whatever stands in the files of the kernel, each figure is a value that may be or is missing.
func FuzzFiles(f *testing.F) {
	f.Add("cpu  130 0 110 770 120 10 10 50 0 0\n", " 259 0 nvme0n1 10 0 9192 5 20 0 18384 5 0 9 9\n", "some avg10=0.00 total=501000\n", "11534336\n", "0::/slurm/job_42/step_0\n",
		"usage_usec 5\nnr_periods 2\nnr_throttled 1\n", "259:0 rbytes=1 wbytes=2 rios=3\n", "file 3000\nshmem 1000\nworkingset_refault_file 5\n")
	f.Add("cpu", "259", "total=", "18446744073709551616", "0::", "usage_usec", "259:0 rbytes=", "file")
	f.Add("", "\n\n", "\n", "-1", "::::\n4:cpu,cpuacct:/x", "nr_periods 18446744073709551615\nnr_throttled 18446744073709551615", "259:0 Read 18446744073709551615", "file 18446744073709551615\nshmem 1")
	f.Fuzz(func(t *testing.T, stat, disks, pressure, counter, cgroup, cpu, io, memory string) {
		file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
		root := fstest.MapFS{
			"proc/stat": file(stat), "proc/meminfo": file("MemAvailable: " + counter), "proc/diskstats": file(disks), "sys/block/nvme0n1/device/x": file(""),
			"proc/pressure/io": file(pressure), "sys/class/net/eth0/device/x": file(""), "sys/class/net/eth0/statistics/tx_bytes": file(counter),
			"sys/class/net/eth0/statistics/rx_errors": file(counter), "sys/class/infiniband/m/ports/1/rate": file(pressure),
			"sys/class/infiniband/m/ports/1/counters/port_xmit_data": file(counter), "proc/1/cgroup": file(cgroup),
			"sys/fs/cgroup/cgroup.controllers": file(""),
		}
		owner := profile.Owner{User: "ana"}
		level, _ := levelOf(cgroup, &owner)
		dir := cgroupRoot + level
		if p := placesOf(cgroup, &owner, "", true); p.cpu != "" {
			dir = p.cpu
		}
		if fs.ValidPath(dir) {
			root[dir+"/cpu.stat"], root[dir+"/io.stat"], root[dir+"/memory.stat"] = file(cpu), file(io), file(memory)
			root[dir+"/memory.current"], root[dir+"/io.pressure"] = file(counter), file(pressure)
		}
		at := time.Duration(0)
		b := newBox(root, func() time.Duration { return at })
		var h profile.HostSample
		for range 3 {
			at += 7 * time.Second
			b.look(&h)
			for m := range profile.NumHostMetrics {
				if v, ok := h.Get(m); ok && !(v >= 0) || !ok && h.Values[m] != 0 {
					t.Fatalf("%v is %v (%v)", m, v, h.Why[m])
				}
			}
			for _, g := range b.lookAtGroups([]holder{{process{1, 1}, owner}}, nil) {
				for m := range profile.NumGroupMetrics {
					if v, ok := g.Get(m); ok && !(v >= 0) || !ok && g.Values[m] != 0 {
						t.Fatalf("%v is %v (%v)", m, v, g.Why[m])
					}
				}
			}
		}
	})
}
