package nvml

import (
	"io"
	"io/fs"
	"strconv"
	"strings"

	"capcli"
)

// identity is what /proc and the box's files know of a process.
type identity struct {
	born                           uint64 // clock ticks after the boot: a PID is used again, not with this
	user                           string
	command                        string
	start                          capcli.Time
	container, pod, namespace, job string
}

const (
	// How much of a file is read at most. An environment may hold megabytes.
	smallFile = 64 << 10
	bigFile   = 1 << 20
	// hertz is USER_HZ, the unit of times in /proc: 100 on all of Linux's
	// architectures that GPUs are in.
	hertz = 100
)

// registry knows processes.
type registry struct {
	out   outside
	jobs  string // directory of files named by GPU, with the jobs on it; "" is none
	known map[int64]*identity
	users map[string]string
	pods  map[string][2]string // names and namespaces by UID
	boot  int64                // seconds since 1970; 0 is not known
	host  bool                 // PIDs in /proc are the host's, as the driver's are
	buf   []byte
}

func newRegistry(out outside, jobs string) *registry {
	r := &registry{
		out: out, jobs: jobs, known: map[int64]*identity{}, users: map[string]string{},
		pods: map[string][2]string{}, host: hostPIDs(out.root),
	}
	for line := range strings.Lines(r.read("proc/stat", bigFile)) {
		if v, ok := strings.CutPrefix(line, "btime "); ok {
			r.boot, _ = strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		}
	}
	return r
}

// initialPIDs is the PID namespace of the host: the kernel gives it this number
// (PROC_PID_INIT_INO of linux/proc_ns.h).
const initialPIDs = "pid:[4026531836]"

// hostPIDs tells whether /proc shows the host's processes by the host's numbers.
// In a container of its own it does not, and a number that the driver tells
// would be another process there.
func hostPIDs(root fs.FS) bool {
	link, err := fs.ReadLink(root, "proc/self/ns/pid")
	return err == nil && link == initialPIDs
}

// read gives the beginning of a file, "" where it cannot be read.
func (r *registry) read(name string, most int64) string {
	f, err := r.out.root.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	if r.buf == nil {
		r.buf = make([]byte, bigFile)
	}
	n, err := io.ReadFull(f, r.buf[:most])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF { //nolint:errorlint // ReadFull gives these two bare
		return ""
	}
	return string(r.buf[:n])
}

// look makes sure that the processes are known, and forgets all others.
func (r *registry) look(pids []int64) {
	was := r.known
	r.known = make(map[int64]*identity, len(pids))
	for _, pid := range pids {
		if _, twice := r.known[pid]; twice || !r.host {
			continue
		}
		dir := "proc/" + strconv.FormatInt(pid, 10) + "/"
		name, born, ok := statOf(r.read(dir+"stat", smallFile))
		if !ok {
			continue // it has ended
		}
		who := was[pid]
		if who == nil || who.born != born {
			who = r.identify(dir, name, born)
		}
		r.known[pid] = who
	}
}

// statOf reads a process' name and time of birth from /proc/PID/stat: the second
// field, in parentheses that the name may hold too, and the 22nd.
func statOf(stat string) (name string, born uint64, ok bool) {
	from, to := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return "", 0, false
	}
	n := 2
	for field := range strings.FieldsSeq(stat[to+1:]) {
		if n++; n == 22 {
			born, err := strconv.ParseUint(field, 10, 64)
			return stat[from+1 : to], born, err == nil
		}
	}
	return "", 0, false
}

func (r *registry) identify(dir, name string, born uint64) *identity {
	who := &identity{born: born, start: capcli.NoTime}
	who.command = commandOf(r.read(dir+"cmdline", smallFile), name)
	who.user = r.userOf(r.read(dir+"status", smallFile))
	if r.boot > 0 {
		who.start = capcli.Time(r.boot + int64(born/hertz))
	}
	at := placeOf(r.read(dir+"cgroup", smallFile))
	env := environ(r.read(dir+"environ", bigFile))
	who.container = at.container
	// A job's own variables can be set to anything; the cgroup cannot.
	who.job = firstOf(at.job, env["SLURM_JOB_ID"], env["SLURM_JOBID"], env["PBS_JOBID"], env["LSB_JOBID"])
	if at.pod != "" || env["KUBERNETES_SERVICE_HOST"] != "" && at.container != "" {
		names := r.podNames(at.pod)
		if env["HOSTNAME"] == r.out.host {
			delete(env, "HOSTNAME") // of the box: the pod shares its network
		}
		who.pod = firstOf(names[1], env["POD_NAME"], env["MY_POD_NAME"], env["HOSTNAME"], at.pod)
		who.namespace = firstOf(names[0], env["POD_NAMESPACE"], env["MY_POD_NAMESPACE"])
	}
	return who
}

// firstOf is the first text that is not empty, made fit to be kept.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return clip(printable(t), maxCommand)
		}
	}
	return ""
}

// wantedEnv are the variables that are looked at; no other is kept.
var wantedEnv = map[string]bool{
	"SLURM_JOB_ID": true, "SLURM_JOBID": true, "PBS_JOBID": true, "LSB_JOBID": true,
	"KUBERNETES_SERVICE_HOST": true, "POD_NAME": true, "MY_POD_NAME": true, "HOSTNAME": true,
	"POD_NAMESPACE": true, "MY_POD_NAMESPACE": true,
}

func environ(block string) map[string]string {
	env := map[string]string{}
	for entry := range strings.SplitSeq(block, "\x00") {
		if key, value, ok := strings.Cut(entry, "="); ok && wantedEnv[key] {
			env[key] = value
		}
	}
	return env
}

// userOf names the user of /proc/PID/status by its real id; the number itself
// where nobody knows a name.
func (r *registry) userOf(status string) string {
	for line := range strings.Lines(status) {
		ids, ok := strings.CutPrefix(line, "Uid:")
		if !ok {
			continue
		}
		uid := strings.Fields(ids)
		if len(uid) == 0 || !digits(uid[0]) {
			return ""
		}
		name, known := r.users[uid[0]]
		if !known {
			if name = r.passwd(uid[0]); name == "" {
				name = r.out.userName(uid[0])
			}
			name = firstOf(name, uid[0])
			r.users[uid[0]] = name
		}
		return name
	}
	return ""
}

func (r *registry) passwd(uid string) string {
	for line := range strings.Lines(r.read("etc/passwd", bigFile)) {
		if f := strings.SplitN(line, ":", 4); len(f) == 4 && f[2] == uid {
			return f[0]
		}
	}
	return ""
}

// podNames finds a pod's namespace and name by its UID: the kubelet keeps its
// logs in /var/log/pods/NAMESPACE_NAME_UID.
func (r *registry) podNames(uid string) [2]string {
	if uid == "" {
		return [2]string{}
	}
	if names, ok := r.pods[uid]; ok {
		return names
	}
	list, err := fs.ReadDir(r.out.root, "var/log/pods")
	if err != nil {
		return [2]string{}
	}
	for _, e := range list {
		rest, ok := strings.CutSuffix(e.Name(), "_"+uid)
		namespace, name, both := strings.Cut(rest, "_")
		if ok && both {
			r.pods[uid] = [2]string{namespace, name}
		}
	}
	return r.pods[uid]
}

// jobOn is the job that a directory of the cluster's making says is on a GPU: a
// file named by the GPU's number with one job a line, as dcgm-exporter reads it.
// With several jobs it is not known whose a process is.
func (r *registry) jobOn(gpu int) string {
	if r.jobs == "" {
		return ""
	}
	jobs := strings.Fields(r.read(strings.Trim(r.jobs, "/")+"/"+strconv.Itoa(gpu), smallFile))
	if len(jobs) != 1 {
		return ""
	}
	return firstOf(jobs[0])
}
