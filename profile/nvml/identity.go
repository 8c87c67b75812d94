package nvml

import (
	"io"
	"io/fs"
	"strconv"
	"strings"

	"capcli"
)

// identity is what /proc and the files of the box say about a process.
type identity struct {
	born                           uint64 // start, clock ticks after the boot: unlike a PID it is not reused
	user                           string
	command                        string
	start                          capcli.Time
	container, pod, namespace, job string
}

const (
	// Bytes of a file that are read at most. An environment may hold megabytes.
	smallFile = 64 << 10
	bigFile   = 1 << 20
	// hertz is USER_HZ, the clock ticks per second of times in /proc: 100 on all architectures of
	// Linux with GPUs.
	hertz = 100
)

// registry looks up the identities of processes.
type registry struct {
	out   outside
	jobs  string // directory with a file for each GPU that lists its jobs; "" is none
	known map[int64]*identity
	users map[string]string
	pods  map[string][2]string // namespace and name, by UID
	boot  int64                // time of the boot, seconds since 1970; 0 is not known
	host  bool                 // PIDs in /proc are those of the host, as are those of the driver
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

// initialPIDs is the link of the PID namespace of the host, which always has this number
// (PROC_PID_INIT_INO of linux/proc_ns.h).
const initialPIDs = "pid:[4026531836]"

// hostPIDs reports whether /proc shows the processes of the host with the PIDs of the host. In a
// container with its own PID namespace it does not: there a PID of the driver may be another
// process.
func hostPIDs(root fs.FS) bool {
	link, err := fs.ReadLink(root, "proc/self/ns/pid")
	return err == nil && link == initialPIDs
}

// read returns the first most bytes of a file; "" where it cannot be read.
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

// look sets r.known to the identities of the processes pids. A process that was known and has not
// ended keeps its identity.
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

// statOf returns the name and the start of a process, in clock ticks after the boot, from
// /proc/PID/stat. They are the second field, in parentheses that the name may contain too, and
// the 22nd.
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
	// The process can set its variables to anything, but not its cgroup.
	who.job = firstOf(at.job, env["SLURM_JOB_ID"], env["SLURM_JOBID"], env["PBS_JOBID"], env["LSB_JOBID"])
	if at.pod != "" || env["KUBERNETES_SERVICE_HOST"] != "" && at.container != "" {
		names := r.podNames(at.pod)
		if env["HOSTNAME"] == r.out.host {
			delete(env, "HOSTNAME") // this is the name of the box: the pod shares its network
		}
		who.pod = firstOf(names[1], env["POD_NAME"], env["MY_POD_NAME"], env["HOSTNAME"], at.pod)
		who.namespace = firstOf(names[0], env["POD_NAMESPACE"], env["MY_POD_NAMESPACE"])
	}
	return who
}

// firstOf returns the first text that is not empty, printable and cut to maxCommand bytes; ""
// where all are empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return clip(printable(t), maxCommand)
		}
	}
	return ""
}

// wantedEnv are the environment variables that are read; all others are dropped.
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

// userOf returns the name of the user with the real id in /proc/PID/status; the id where it has
// no name, "" where there is no id.
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

// podNames returns the namespace and the name of the pod with a UID. The kubelet keeps its logs
// in /var/log/pods/NAMESPACE_NAME_UID.
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

// jobOn returns the job on a GPU according to the job directory, which the cluster maintains: it
// has a file named by the index of each GPU with one job a line, as dcgm-exporter reads it. It
// returns "" where the file has no job or several, since then the job of a process is not known.
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
