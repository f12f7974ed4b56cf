package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// runK0s writes the config anew at each start, and passes the child's log on as its own.
func runK0s() {
	const run, root = "/run/k0s", "/var/lib/k0s/kubelet"
	say("info", "Starting worker")
	waitForAPIServer("/version", time.Second, func(err error) {
		say("warning", "failed to load worker profile: %v", err)
	})
	startContainerd(run+"/containerd.sock", run+"/containerd", "/var/lib/k0s/containerd", io.Discard)
	// What the cluster's worker profile says, which a test keeps in a file.
	profile, err := os.ReadFile("/etc/k0s/worker-profile.yaml")
	must(err)
	write(run+"/kubelet/config.yaml", profile)
	must(os.MkdirAll(root, 0o755))
	args := []string{
		"--cert-dir=" + root + "/pki",
		"--config=" + run + "/kubelet/config.yaml",
		"--kubeconfig=" + kubeconfig,
		"--root-dir=" + root,
		"--runtime-cgroups=/system.slice/containerd.service",
		"--v=1",
	}
	args = append(args, strings.Fields(valueOf("--kubelet-extra-args="))...)
	args = append(args, "--hostname-override="+os.Getenv("STARTER_NODE"))
	say("info", "Starting kubelet")
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	for supervise(stop, "/var/lib/k0s/bin/kubelet", args) {
		say("info", "respawning in 5s")
		time.Sleep(5 * time.Second)
	}
}

// supervise returns whether the child ended by itself.
func supervise(stop context.Context, path string, args []string) bool {
	command := exec.Command(path, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := command.StderrPipe()
	must(err)
	must(command.Start())
	must(os.WriteFile("/run/k0s/kubelet.pid", fmt.Appendf(nil, "%d\n", command.Process.Pid), 0o644))
	ended := make(chan error)
	go func() {
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			now := time.Now().UTC().Format("2006-01-02 15:04:05")
			fmt.Fprintf(os.Stderr, "time=%q level=info msg=%q component=kubelet stream=stderr\n", now, lines.Text())
		}
		ended <- command.Wait()
	}()
	select {
	case err := <-ended:
		say("error", "Process terminated unexpectedly: %v", err)
		return true
	case <-stop.Done():
		must(command.Process.Signal(syscall.SIGTERM))
		<-ended
		return false
	}
}

// kubelite runs the kubelet within, beside what else of Kubernetes the node has.
func runKubelite() {
	log.Println("Waiting for the API server")
	waitForAPIServer("/readyz", time.Second, func(error) {})
	log.Println("Starting Kubelet")
	args := linesOf(valueOf("--kubelet-args-file="))
	runInside(append(args, "--hostname-override="+os.Getenv("STARTER_NODE")))
}

// valueOf is empty where no argument begins so.
func valueOf(flag string) string {
	for _, arg := range os.Args[1:] {
		if value, found := strings.CutPrefix(arg, flag); found {
			return value
		}
	}
	return ""
}

// linesOf reads a file of arguments, one a line.
func linesOf(path string) []string {
	text, err := os.ReadFile(path)
	must(err)
	return strings.Fields(string(text))
}
