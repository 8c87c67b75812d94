package main

import (
	"capcli/cmd/files"
	"capcli/profile/store"
)

// openFolders opens the folders dirs that capcli profile wrote, as one.
func openFolders(e *env, dirs []string) (*store.Folders, error) {
	if len(dirs) == 0 {
		return nil, &usageError{text: "name the folder that capcli profile wrote: DIR is missing", hint: "capcli profile summary " + defaultProfile}
	}
	var all []store.Folder
	for _, dir := range dirs {
		if _, err := e.disk.Stat(dir); err != nil {
			return nil, files.OpenError(dir, err)
		}
		all = append(all, store.Folder{Name: dir, Root: dir})
	}
	return store.OpenFolders(all), nil
}
