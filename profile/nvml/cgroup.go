package nvml

import "strings"

// place is the container, pod and job of a process, as its control group names them; "" is none.
type place struct {
	container string // id of 64 hexadecimal digits
	pod       string // UID
	job       string // Slurm job id
}

// placeOf parses /proc/PID/cgroup: one line "number:controllers:path" per hierarchy in version 1,
// "0::path" in version 2. It knows these paths:
//
//	/docker/ID  /system.slice/docker-ID.scope             Docker
//	/libpod_parent/libpod-ID  …/libpod-ID.scope/container  Podman
//	/k8s.io/ID  /default/ID  …:cri-containerd:ID          containerd
//	/kubepods/burstable/podUID/ID                         Kubernetes, cgroupfs
//	/kubepods.slice/…-podUID.slice/cri-containerd-ID.scope  Kubernetes, systemd
//	…/crio-ID.scope                                       CRI-O
//	/slurm/uid_1000/job_42/step_0  …slurmstepd.scope/job_42/…  Slurm
func placeOf(cgroup string) (p place) {
	for line := range strings.Lines(cgroup) {
		_, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		if !ok {
			continue
		}
		_, path, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		slurm := strings.Contains(path, "slurm")
		for element := range strings.SplitSeq(path, "/") {
			p.element(element, slurm)
		}
	}
	return p
}

// element adds what one element of a path names. The innermost container counts (Docker in
// Docker), and the first job.
func (p *place) element(e string, slurm bool) {
	if id, ok := strings.CutPrefix(e, "job_"); ok && slurm && p.job == "" && digits(id) {
		p.job = id
		return
	}
	if uid := podOf(e); uid != "" {
		p.pod = uid
	}
	e = strings.TrimSuffix(e, ".scope")
	if strings.Contains(e, "conmon") {
		return // conmon is the monitor of a container and runs outside of it
	}
	if i := strings.LastIndexAny(e, "-:"); i >= 0 && len(e)-i-1 == containerID {
		e = e[i+1:]
	}
	if len(e) == containerID && hexadecimal(e) {
		p.container = e
	}
}

const containerID = 64

// podOf returns the UID of the pod that e names, or "". The forms are "podUID" and
// "kubepods-burstable-podUID.slice", the latter with underscores for the dashes.
func podOf(e string) string {
	e, slice := strings.CutSuffix(e, ".slice")
	if slice {
		i := strings.LastIndex(e, "-pod")
		if i < 0 || !strings.Contains(e[:i], "kubepods") {
			return ""
		}
		e = strings.ReplaceAll(e[i+1:], "_", "-")
	}
	// containerd with the default cgroup driver:
	// "kubepods-burstable-podUID.slice:cri-containerd:ID".
	if i := strings.Index(e, ".slice:"); i >= 0 {
		return podOf(e[:i+len(".slice")])
	}
	uid, ok := strings.CutPrefix(e, "pod")
	if !ok || len(uid) < 32 || len(uid) > 36 || !hexadecimal(strings.ReplaceAll(uid, "-", "")) {
		return ""
	}
	return uid
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func hexadecimal(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}
