package box

import (
	"strings"

	"capcli/profile"
)

// cgroupRoot is where control groups are mounted.
const cgroupRoot = "sys/fs/cgroup/"

// places are the folders of a control group by what is read there; "" where the process has none of its
// own, or it cannot be seen from here. Version 2 has one folder for all.
type places struct {
	cpu, memory, io, psi string
	limit                string // whose limit of CPU time counts too: a pod's, above its container
	two                  bool   // cpu, memory and io are those of version 2
}

// placesOf parses /proc/PID/cgroup: one line "number:controllers:path" per hierarchy in version 1,
// "0::path" in version 2. unified says where version 2 is mounted: "" is at the root alone,
// "unified/" beside version 1, whose pressure figures are then those of version 2.
func placesOf(cgroup string, o *profile.Owner, unified string, pure bool) (p places) {
	p.two = pure
	for l := range strings.Lines(cgroup) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		level, limit := levelOf(path, o)
		if level == "" {
			continue
		}
		if controllers == "" {
			p.psi = cgroupRoot + unified + level
			if pure {
				p.cpu, p.memory, p.io = p.psi, p.psi, p.psi
				if limit != "" {
					p.limit = cgroupRoot + limit
				}
			}
			continue
		}
		for c := range strings.SplitSeq(controllers, ",") {
			switch c {
			case "cpuacct": // cpu and cpuacct are links to one folder where they are one hierarchy
				p.cpu = cgroupRoot + "cpuacct/" + level
			case "memory":
				p.memory = cgroupRoot + "memory/" + level
			case "blkio":
				p.io = cgroupRoot + "blkio/" + level
			case "cpu":
				p.limit = cgroupRoot + "cpu/" + level
			}
		}
	}
	return p
}

// levelOf returns the part of a path that holds all processes of the owner: of its Slurm job, else of its
// container, else of its pod. above is the pod's where the level is a container's in it: its limits count
// too. The level is the whole path where it names none of them, and "" for the root, which is the box,
// and for what lies outside of what can be seen here.
func levelOf(path string, o *profile.Owner) (level, above string) {
	path = strings.Trim(path, "/")
	if path == "" || strings.HasPrefix(path, "..") {
		return "", ""
	}
	at := 0
	for e := range strings.SplitSeq(path, "/") {
		end := at + len(e)
		switch {
		case o.Job != "" && e == "job_"+o.Job:
			return path[:end], ""
		case o.Container != "" && strings.Contains(e, o.Container) && !strings.Contains(e, "conmon"):
			return path[:end], above
		case o.Pod != "" && isPod(e):
			above = path[:end]
		}
		at = end + 1
	}
	if above != "" {
		return above, ""
	}
	return path, ""
}

// isPod reports whether an element of a path is that of a pod: "podUID", or
// "kubepods-burstable-podUID.slice" with underscores for the dashes.
func isPod(e string) bool {
	e, slice := strings.CutSuffix(e, ".slice")
	if slice {
		i := strings.LastIndex(e, "-pod")
		if i < 0 || !strings.Contains(e[:i], "kubepods") {
			return false
		}
		e = e[i+1:]
	}
	uid, ok := strings.CutPrefix(e, "pod")
	return ok && len(uid) >= 32 && len(uid) <= 36
}
