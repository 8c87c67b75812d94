package nvml

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"capcli"
)

const (
	idA  = "4f1c0e8bb1d2c3a4958677665544332211ffeeddccbbaa998877665544332210"
	idB  = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	uid  = "0a1b2c3d-1111-2222-3333-444455556666"
	uidU = "0a1b2c3d_1111_2222_3333_444455556666"
)

func TestPlaceOf(t *testing.T) {
	tests := []struct {
		name, cgroup string
		want         place
	}{
		{"none", "0::/user.slice/user-1000.slice/session-2.scope\n", place{}},
		{"docker, v1", "12:pids:/docker/" + idA + "\n11:cpu,cpuacct:/docker/" + idA + "\n0::/\n", place{container: idA}},
		{"docker, v2, systemd", "0::/system.slice/docker-" + idA + ".scope\n", place{container: idA}},
		{"docker in docker", "0::/system.slice/docker-" + idA + ".scope/docker/" + idB + "\n", place{container: idB}},
		{"podman as root", "0::/machine.slice/libpod-" + idA + ".scope/container\n", place{container: idA}},
		{"podman without root", "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + idA + ".scope\n", place{container: idA}},
		{"podman, cgroupfs", "5:devices:/libpod_parent/libpod-" + idA + "\n", place{container: idA}},
		{"podman's monitor", "0::/machine.slice/libpod-conmon-" + idA + ".scope\n", place{}},
		{"containerd", "0::/default/" + idA + "\n", place{container: idA}},
		{"Kubernetes, v1, cgroupfs", "8:memory:/kubepods/burstable/pod" + uid + "/" + idA + "\n", place{container: idA, pod: uid}},
		{"Kubernetes, guaranteed", "0::/kubepods/pod" + uid + "/" + idA + "\n", place{container: idA, pod: uid}},
		{"Kubernetes, v2, systemd, containerd", "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + uidU + ".slice/cri-containerd-" + idA + ".scope\n", place{container: idA, pod: uid}},
		{"Kubernetes, docker", "4:cpu:/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uidU + ".slice/docker-" + idA + ".scope\n", place{container: idA, pod: uid}},
		{"Kubernetes, CRI-O", "0::/kubepods.slice/kubepods-pod" + uidU + ".slice/crio-" + idA + ".scope/container\n", place{container: idA, pod: uid}},
		{"containerd without systemd", "1:name=systemd:/system.slice/containerd.service/kubepods-burstable-pod" + uidU + ".slice:cri-containerd:" + idA + "\n", place{container: idA, pod: uid}},
		{"in a kind node", "0::/system.slice/docker-" + idB + ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + uidU + ".slice/cri-containerd-" + idA + ".scope\n", place{container: idA, pod: uid}},
		{"static pod", "0::/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" + idA + "\n", place{container: idA, pod: "0123456789abcdef0123456789abcdef"}},
		{"Slurm, v1", "9:devices:/slurm/uid_1000/job_88213/step_0/task_0\n", place{job: "88213"}},
		{"Slurm, v1, several daemons", "9:devices:/slurm_gpu-07/uid_1000/job_7/step_batch\n", place{job: "7"}},
		{"Slurm, v2", "0::/system.slice/slurmstepd.scope/job_42/step_interactive/user/task_0\n", place{job: "42"}},
		{"Slurm with a container", "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0/libpod-" + idA + ".scope\n", place{job: "42", container: idA}},
		{"job_ of something else", "0::/batch/job_42\n", place{}},
		{"no number", "0::/slurm/job_x\n", place{}},
		{"too short", "0::/docker/4f1c0e8b\n", place{}},
		{"no cgroup file at all", "", place{}},
		{"not a cgroup file", "docker/" + idA + "\nx:" + idB, place{}},
	}
	for _, tt := range tests {
		if got := placeOf(tt.cgroup); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestCommandOf(t *testing.T) {
	long := strings.Repeat("ä", 200)
	tests := []struct{ name, cmdline, short, want string }{
		{"program and arguments", "/usr/bin/python3\x00train.py\x00--lr\x001e-4\x00", "python3", "python3 train.py --lr 1e-4"},
		{"none", "", "kworker/0:1", "[kworker/0:1]"},
		{"gone", "", "", ""},
		{"a secret beside", "/opt/serve\x00--api-key\x00hunter2\x00--port\x0080\x00", "", "serve --api-key *** --port 80"},
		{"a secret within", "serve\x00--hf-token=abc\x00PASSWORD=x\x00", "", "serve --hf-token=*** PASSWORD=***"},
		{"a word like a secret", "serve\x00tokenizer.json\x00x\x00", "", "serve tokenizer.json x"},
		{"not printable", "a\x1b[31m\x00b\xff\n\x00", "", "a [31m b  "},
		{"long", "/bin/x\x00" + long + "\x00", "", "x " + strings.Repeat("ä", 127)},
	}
	for _, tt := range tests {
		if got := commandOf(tt.cmdline, tt.short); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestStatOf(t *testing.T) {
	rest := " S 1 1 1 0 -1 4194560 100 0 0 0 10 5 0 0 20 0 1 0 987654 1000 200"
	tests := []struct {
		stat, name string
		born       uint64
		ok         bool
	}{
		{"42 (python3)" + rest, "python3", 987654, true},
		{"42 (a) (b c)" + rest, "a) (b c", 987654, true},
		{"42 (x) S 1 1", "", 0, false},
		{"", "", 0, false},
		{"42 )(", "", 0, false},
	}
	for _, tt := range tests {
		if name, born, ok := statOf(tt.stat); name != tt.name || born != tt.born || ok != tt.ok {
			t.Errorf("%q: %q %d %v, want %q %d %v", tt.stat, name, born, ok, tt.name, tt.born, tt.ok)
		}
	}
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// process adds what /proc shows of a process.
func process(root fstest.MapFS, pid, stat, cmdline, uid, cgroup, environ string) {
	dir := "proc/" + pid + "/"
	root[dir+"stat"] = file(pid + " (" + stat + ") S 1 1 1 0 -1 4194560 100 0 0 0 10 5 0 0 20 0 1 0 6000 1000 200")
	root[dir+"cmdline"] = file(cmdline)
	root[dir+"status"] = file("Name:\t" + stat + "\nUid:\t" + uid + "\t0\t0\t0\nGid:\t100\n")
	root[dir+"cgroup"] = file(cgroup)
	root[dir+"environ"] = file(environ)
}

func procRoot() fstest.MapFS {
	return fstest.MapFS{
		"proc/stat":        file("cpu 1 2 3\nbtime 1700000000\nprocesses 5\n"),
		"proc/self/ns/pid": {Data: []byte(initialPIDs), Mode: fs.ModeSymlink},
		"etc/passwd":       file("root:x:0:0::/root:/bin/sh\nada:x:1000:1000:Ada:/home/ada:/bin/sh\n"),
	}
}

func TestRegistry(t *testing.T) {
	root := procRoot()
	process(root, "10", "python3", "python3\x00train.py\x00", "1000", "0::/system.slice/slurmstepd.scope/job_42/step_0\n", "SLURM_JOB_ID=666\x00HOME=/home/ada\x00")
	process(root, "11", "serve", "/bin/serve\x00", "2000", "0::/kubepods.slice/kubepods-pod"+uidU+".slice/crio-"+idA+".scope\n", "KUBERNETES_SERVICE_HOST=10.0.0.1\x00HOSTNAME=serve-7\x00")
	process(root, "12", "serve", "/bin/serve\x00", "3000", "0::/kubepods/podffffffff-1111-2222-3333-444455556666/"+idB+"\n", "POD_NAME=chat-0\x00POD_NAMESPACE=prod\x00HOSTNAME=box-1\x00")
	process(root, "13", "serve", "", "0", "0::/kubepods/podffffffff-0000-2222-3333-444455556666/"+idB+"\n", "HOSTNAME=box-1\x00")
	process(root, "14", "x", "x\x00", "0", "0::/\n", "PBS_JOBID=5.head\x00")
	root["var/log/pods/team-a_serve-7d9_"+uid+"/serve/0.log"] = file("")
	asked := map[string]int{}
	out := outside{host: "box-1", root: root, userName: func(uid string) string {
		asked[uid]++
		return map[string]string{"2000": "ldap-user"}[uid]
	}}
	r := newRegistry(out, "")
	pids := []int64{10, 11, 12, 13, 14, 99}
	for range 2 {
		r.look(pids)
	}
	type facts struct{ user, command, container, pod, namespace, job string }
	want := map[int64]facts{
		10: {"ada", "python3 train.py", "", "", "", "42"},
		11: {"ldap-user", "serve", idA, "serve-7d9", "team-a", ""},
		12: {"3000", "serve", idB, "chat-0", "prod", ""},
		13: {"root", "[serve]", idB, "ffffffff-0000-2222-3333-444455556666", "", ""},
		14: {"root", "x", "", "", "", "5.head"},
	}
	for pid, w := range want {
		who := r.known[pid]
		if who == nil {
			t.Errorf("%d is not known", pid)
			continue
		}
		if got := (facts{who.user, who.command, who.container, who.pod, who.namespace, who.job}); got != w {
			t.Errorf("%d: %+v, want %+v", pid, got, w)
		}
		if who.start != 1700000060 {
			t.Errorf("%d began at %d, want 60 s after the boot", pid, who.start)
		}
	}
	if r.known[99] != nil {
		t.Error("a process that is not there is known")
	}
	if asked["2000"] != 1 || asked["1000"] != 0 {
		t.Errorf("the directory was asked %v", asked)
	}

	// The number is used again, and those not asked for are forgotten.
	was := r.known[10]
	root["proc/10/stat"] = file(strings.Replace(string(root["proc/10/stat"].Data), " 6000 ", " 7000 ", 1))
	root["proc/10/cmdline"] = file("other\x00")
	r.look([]int64{10})
	if who := r.known[10]; who == was || who.command != "other" || len(r.known) != 1 {
		t.Errorf("process 10 is %+v of %d", r.known[10], len(r.known))
	}
}

// In a container the driver's numbers are not those of /proc.
func TestRegistryOutsideOfTheHost(t *testing.T) {
	root := procRoot()
	process(root, "10", "other", "other\x00", "0", "0::/\n", "")
	for _, link := range []string{"pid:[4026532100]", ""} {
		root["proc/self/ns/pid"] = &fstest.MapFile{Data: []byte(link), Mode: fs.ModeSymlink}
		if link == "" {
			delete(root, "proc/self/ns/pid")
		}
		r := newRegistry(outside{root: root, userName: func(string) string { return "" }}, "")
		r.look([]int64{10})
		if len(r.known) != 0 {
			t.Errorf("namespace %q: %+v is known", link, r.known[10])
		}
	}
}

func TestRegistryOfTheBox(t *testing.T) {
	r := newRegistry(theBox(), "")
	if !r.host {
		t.Skip("not in the host's PID namespace")
	}
	r.look([]int64{1})
	if who := r.known[1]; who == nil || who.command == "" || who.user == "" || who.start == capcli.NoTime {
		t.Errorf("process 1 is %+v", who)
	}
}

func TestJobOn(t *testing.T) {
	root := fstest.MapFS{"run/jobs/0": file("88213\n"), "run/jobs/1": file("1\n2\n"), "run/jobs/2": file("\n")}
	r := newRegistry(outside{root: root}, "/run/jobs/")
	for gpu, want := range []string{"88213", "", "", ""} {
		if got := r.jobOn(gpu); got != want {
			t.Errorf("GPU %d: job %q, want %q", gpu, got, want)
		}
	}
}

// Whatever the files hold, what is kept is short text.
func FuzzIdentity(f *testing.F) {
	f.Add("42 (x) S 1", "a\x00b", "Uid:\t0", "0::/docker/"+idA, "POD_NAME=x\x00")
	f.Add("42 (x) S 1 1 1 0 -1 4194560 100 0 0 0 10 5 0 0 20 0 1 0 6000 1", "--token\x00", "Uid:\tx", "0::/kubepods/pod"+uid, "HOSTNAME=\xff\x00KUBERNETES_SERVICE_HOST=1")
	f.Fuzz(func(t *testing.T, stat, cmdline, status, cgroup, environ string) {
		root := procRoot()
		root["proc/5/stat"], root["proc/5/cmdline"], root["proc/5/status"] = file(stat), file(cmdline), file(status)
		root["proc/5/cgroup"], root["proc/5/environ"] = file(cgroup), file(environ)
		r := newRegistry(outside{root: root, userName: func(string) string { return "" }}, "")
		r.look([]int64{5})
		who := r.known[5]
		if who == nil {
			return
		}
		for _, s := range []string{who.user, who.command, who.container, who.pod, who.namespace, who.job} {
			if len(s) > maxCommand || strings.ContainsAny(s, "\x00\n\x1b") || strings.ToValidUTF8(s, "") != s {
				t.Errorf("%q is kept", s)
			}
		}
	})
}
