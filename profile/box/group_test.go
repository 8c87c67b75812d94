package box

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// The group of a Slurm job, of a pod and of a container, in the forms that they have.
func TestLevels(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	const uid = "11111111-2222-3333-4444-555555555555"
	for _, c := range []struct {
		path         string
		owner        profile.Owner
		level, above string
	}{
		{"/slurm/uid_1000/job_42/step_0/task_0", profile.Owner{Job: "42"}, "slurm/uid_1000/job_42", ""},
		{"/system.slice/slurmstepd.scope/job_42/step_0/user/task_1", profile.Owner{Job: "42"}, "system.slice/slurmstepd.scope/job_42", ""},
		{"/system.slice/slurmstepd.scope/job_42/step_0", profile.Owner{Job: "7"}, "system.slice/slurmstepd.scope/job_42/step_0", ""},
		{
			"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice/cri-containerd-" + id + ".scope",
			profile.Owner{Pod: "train-0", Container: id},
			"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice/cri-containerd-" + id + ".scope",
			"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice",
		},
		{"/kubepods/burstable/pod" + uid + "/" + id + "/nested/deep", profile.Owner{Pod: "x", Container: id}, "kubepods/burstable/pod" + uid + "/" + id, "kubepods/burstable/pod" + uid},
		{"/kubepods/burstable/pod" + uid + "/" + id + "/nested/deep", profile.Owner{Pod: "x"}, "kubepods/burstable/pod" + uid, ""},
		{"/kubepods/pod" + uid, profile.Owner{Pod: "x"}, "kubepods/pod" + uid, ""},
		{"/docker/" + id, profile.Owner{Container: id}, "docker/" + id, ""},
		{"/system.slice/docker-" + id + ".scope/init", profile.Owner{Container: id}, "system.slice/docker-" + id + ".scope", ""},
		{"/user.slice/user-1000.slice/session-3.scope", profile.Owner{User: "ana"}, "user.slice/user-1000.slice/session-3.scope", ""},
		{"/", profile.Owner{User: "ana"}, "", ""},
		{"/../../kubepods.slice/x", profile.Owner{Pod: "x"}, "", ""}, // outside of the name space of this container
	} {
		if level, above := levelOf(c.path, &c.owner); level != c.level || above != c.above {
			t.Errorf("%s:\n got %q, %q\nwant %q, %q", c.path, level, above, c.level, c.above)
		}
	}
}

type wantGroup map[profile.GroupMetric]any

func checkGroup(t *testing.T, s *profile.GroupSample, want wantGroup) {
	t.Helper()
	for m := range profile.NumGroupMetrics {
		switch w := want[m].(type) {
		case nil:
			t.Errorf("%v is %v (%v)", m, s.Values[m], s.Why[m])
		case profile.Reason:
			if s.Why[m] != w || s.Values[m] != 0 {
				t.Errorf("%v is %v (%v), want %v", m, s.Values[m], s.Why[m], w)
			}
		case float64:
			if v, ok := s.Get(m); !ok || math.Abs(v-w) > 1e-9 {
				t.Errorf("%v is %v (%v), want %v", m, v, s.Why[m], w)
			}
		}
	}
}

// second writes a group of version 2.
func (f *tree) second(dir string, usage, reached, read, wait, current, refaults int) {
	dir = "sys/fs/cgroup/" + dir + "/"
	f.put(dir+"cpu.stat", fmt.Sprintf("usage_usec %d\nuser_usec 1\nsystem_usec 1\nnr_periods %d\nnr_throttled %d\nthrottled_usec 9\n", usage, 2*reached+10, reached),
		dir+"io.stat", fmt.Sprintf("259:0 rbytes=%d wbytes=%d rios=1 wios=1 dbytes=0 dios=0\n253:0 rbytes=%d wbytes=%d rios=1\n", read, 2*read, 99*read, 99*read),
		dir+"io.pressure", fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", wait),
		dir+"memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		dir+"memory.current", fmt.Sprintln(current),
		dir+"memory.stat", fmt.Sprintf("anon 5\nfile 3000\nkernel 1\nshmem 1000\nworkingset_refault_anon 1\nworkingset_refault_file %d\n", refaults))
}

func TestGroups(t *testing.T) {
	f := newTree(t)
	f.usual()
	f.put("sys/fs/cgroup/cgroup.controllers", "cpu io memory")
	job := "system.slice/slurmstepd.scope/job_42"
	f.put("proc/100/cgroup", "0::/"+job+"/step_0/user/task_0\n", "proc/101/cgroup", "0::/"+job+"/step_0/user/task_1\n",
		"proc/102/cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n", "proc/103/cgroup", "0::/\n")
	f.second(job, 0, 0, 0, 0, 10_000, 0)
	f.second("user.slice/user-1000.slice/session-3.scope", 0, 0, 0, 0, 5000, 0)
	b := f.box()
	var h profile.HostSample
	b.look(&h) // which devices are disks
	of := []holder{
		{process{100, 5}, profile.Owner{User: "ana", Job: "42"}},
		{process{101, 6}, profile.Owner{User: "ana", Job: "42"}},
		{process{102, capcli.NoTime}, profile.Owner{User: "ben"}},
		{process{103, 7}, profile.Owner{User: "root"}},
		{process{104, 7}, profile.Owner{User: "gone"}},
		{process{102, 8}, profile.Owner{}},
	}
	out := b.lookAtGroups(of, nil)
	if len(out) != 3 || out[0].Owner != of[0].owner || out[1].Owner.User != "ben" || out[2].Owner.User != "root" {
		t.Fatalf("groups %+v", out)
	}
	first := profile.First
	checkGroup(t, &out[0], wantGroup{
		profile.GroupCPU: first, profile.GroupThrottled: first, profile.GroupIOWait: first, profile.GroupMemWait: first, profile.GroupRead: first,
		profile.GroupWrite: first, profile.GroupMemory: 8000.0, profile.GroupPageCache: 2000.0, profile.GroupRefaults: first,
	})
	f.at += 5 * time.Second
	f.second(job, 8*5_000_000, 25, 50<<20, 2_500_000, 20_000, 500)
	b.look(&h)
	out = b.lookAtGroups(of, out[:0])
	checkGroup(t, &out[0], wantGroup{
		profile.GroupCPU: 800.0, profile.GroupThrottled: 50.0, profile.GroupIOWait: 50.0, profile.GroupMemWait: 0.0, profile.GroupRead: 10.0,
		profile.GroupWrite: 20.0, profile.GroupMemory: 18_000.0, profile.GroupPageCache: 2000.0, profile.GroupRefaults: 100.0,
	})
	none := profile.Unsupported
	checkGroup(t, &out[2], wantGroup{ // the root is the box
		profile.GroupCPU: none, profile.GroupThrottled: none, profile.GroupIOWait: none, profile.GroupMemWait: none, profile.GroupRead: none,
		profile.GroupWrite: none, profile.GroupMemory: none, profile.GroupPageCache: none, profile.GroupRefaults: none,
	})
	// A job that ended is forgotten; one of the same number begins anew.
	b.lookAtGroups(of[2:], nil)
	if n := len(b.groups.cgroups); n != 2 {
		t.Errorf("%d control groups are kept", n)
	}
	out = b.lookAtGroups(of, out[:0])
	if out[0].Why[profile.GroupCPU] != first {
		t.Errorf("CPU of a group that was forgotten: %v", out[0].Why[profile.GroupCPU])
	}
}

// The processes of one owner may be in several groups: figures add up, shares of time do not.
func TestSeveralGroupsOfOneOwner(t *testing.T) {
	f := newTree(t)
	f.usual()
	f.put("sys/fs/cgroup/cgroup.controllers", "cpu", "proc/1/cgroup", "0::/a\n", "proc/2/cgroup", "0::/b\n")
	f.second("a", 0, 0, 0, 0, 10_000, 0)
	f.second("b", 0, 0, 0, 0, 10_000, 0)
	b := f.box()
	of := []holder{{process{1, 1}, profile.Owner{User: "ana"}}, {process{2, 1}, profile.Owner{User: "ana"}}}
	b.lookAtGroups(of, nil)
	f.at += time.Second
	f.second("a", 1_000_000, 0, 0, 100_000, 10_000, 10)
	f.second("b", 2_000_000, 0, 0, 300_000, 10_000, 20)
	out := b.lookAtGroups(of, nil)
	if len(out) != 1 {
		t.Fatalf("%+v", out)
	}
	checkGroup(t, &out[0], wantGroup{
		profile.GroupCPU: 300.0, profile.GroupThrottled: 0.0, profile.GroupIOWait: 30.0, profile.GroupMemWait: 0.0, profile.GroupRead: 0.0,
		profile.GroupWrite: 0.0, profile.GroupMemory: 16_000.0, profile.GroupPageCache: 4000.0, profile.GroupRefaults: 30.0,
	})
}

// Version 1, with the pressure figures of version 2 beside it.
func TestGroupsOfVersion1(t *testing.T) {
	f := newTree(t)
	f.usual()
	f.put("proc/9/cgroup", "5:memory:/slurm/uid_1/job_42/step_0\n4:blkio:/slurm/uid_1/job_42\n3:cpu,cpuacct:/slurm/uid_1/job_42/step_0/task_0\n1:name=systemd:/x\n0::/slurm/job_42\n")
	v1 := func(ns, read, current int) {
		f.put("sys/fs/cgroup/cpuacct/slurm/uid_1/job_42/cpuacct.usage", fmt.Sprintln(ns),
			"sys/fs/cgroup/cpu/slurm/uid_1/job_42/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
			"sys/fs/cgroup/blkio/slurm/uid_1/job_42/blkio.throttle.io_service_bytes_recursive", fmt.Sprintf("259:0 Read %d\n259:0 Write 0\n259:0 Total %d\nTotal %d\n", read, read, read),
			"sys/fs/cgroup/memory/slurm/uid_1/job_42/memory.usage_in_bytes", fmt.Sprintln(current),
			"sys/fs/cgroup/memory/slurm/uid_1/job_42/memory.stat", "cache 1\ntotal_cache 3000\ntotal_shmem 1000\n",
			"sys/fs/cgroup/unified/slurm/job_42/io.pressure", fmt.Sprintf("some total=%d\n", ns/2000))
	}
	v1(0, 0, 10_000)
	b := f.box()
	var h profile.HostSample
	b.look(&h)
	of := []holder{{process{9, 1}, profile.Owner{Job: "42"}}}
	b.lookAtGroups(of, nil)
	f.at += time.Second
	v1(1_500_000_000, 4<<20, 10_000)
	out := b.lookAtGroups(of, nil)
	checkGroup(t, &out[0], wantGroup{
		profile.GroupCPU: 150.0, profile.GroupThrottled: 0.0, profile.GroupIOWait: 75.0, profile.GroupMemWait: profile.Unsupported, profile.GroupRead: 4.0,
		profile.GroupWrite: 0.0, profile.GroupMemory: 8000.0, profile.GroupPageCache: 2000.0, profile.GroupRefaults: profile.Unsupported,
	})
}

// The limit of a pod counts beside that of the container in it.
func TestLimitOfThePod(t *testing.T) {
	f := newTree(t)
	pod := "kubepods/pod11111111-2222-3333-4444-555555555555"
	f.put("sys/fs/cgroup/cgroup.controllers", "cpu", "proc/1/cgroup", "0::/"+pod+"/abc\n")
	f.second(pod, 0, 0, 0, 0, 10_000, 0)
	f.second(pod+"/abc", 0, 0, 0, 0, 10_000, 0)
	b := f.box()
	of := []holder{{process{1, 1}, profile.Owner{Pod: "x", Container: "abc"}}}
	b.lookAtGroups(of, nil)
	f.at += time.Second
	f.second(pod, 0, 8, 0, 0, 10_000, 0)
	f.second(pod+"/abc", 5e5, 0, 0, 0, 10_000, 0)
	out := b.lookAtGroups(of, nil)
	if v, ok := out[0].Get(profile.GroupThrottled); !ok || v != 50 {
		t.Errorf("throttled %v (%v)", v, out[0].Why[profile.GroupThrottled])
	}
	if v, ok := out[0].Get(profile.GroupCPU); !ok || v != 50 {
		t.Errorf("CPU %v (%v)", v, out[0].Why[profile.GroupCPU])
	}
}

// A control group counts once, whoever's processes are in it; a pod's containers each have their own.
func TestSharedGroups(t *testing.T) {
	f := newTree(t)
	job, pod := "slurm/job_42", "kubepods/pod11111111-2222-3333-4444-555555555555"
	f.put("sys/fs/cgroup/cgroup.controllers", "cpu", "proc/1/cgroup", "0::/"+job+"/a\n", "proc/2/cgroup", "0::/"+job+"/b\n",
		"proc/3/cgroup", "0::/"+pod+"/abc\n", "proc/4/cgroup", "0::/"+pod+"/def\n")
	for _, dir := range []string{job, pod + "/abc", pod + "/def"} {
		f.second(dir, 0, 0, 0, 0, 10_000, 0)
	}
	out := f.box().lookAtGroups([]holder{
		{process{1, 1}, profile.Owner{User: "ana", Job: "42"}},
		{process{2, 1}, profile.Owner{User: "root", Job: "42"}},
		{process{3, 1}, profile.Owner{Pod: "x", Container: "abc"}},
		{process{4, 1}, profile.Owner{Pod: "x", Container: "def"}},
	}, nil)
	if len(out) != 3 || out[0].Owner.User != "ana" || out[1].Owner.Container != "abc" || out[2].Owner.Container != "def" {
		t.Fatalf("%+v", out)
	}
	for i := range out {
		if v, ok := out[i].Get(profile.GroupMemory); !ok || v != 8000 {
			t.Errorf("memory of %+v is %v", out[i].Owner, v)
		}
	}
}

// In a container with process numbers of its own the driver's numbers are of other processes.
func TestOtherNumbers(t *testing.T) {
	f := newTree(t)
	f.put("sys/fs/cgroup/cgroup.controllers", "cpu", "proc/1/cgroup", "0::/a\n", "proc/self/ns/x", "")
	f.second("a", 0, 0, 0, 0, 10_000, 0)
	if err := os.Symlink("pid:[4026531999]", filepath.Join(f.dir, "proc/self/ns/pid")); err != nil {
		t.Fatal(err)
	}
	if out := f.box().lookAtGroups([]holder{{process{1, 1}, profile.Owner{User: "ana"}}}, nil); len(out) > 0 {
		t.Errorf("%+v", out)
	}
}
