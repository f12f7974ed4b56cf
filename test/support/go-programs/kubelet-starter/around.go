package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// What the kubelet speaks to the API server with; its distribution fetches it from a server that these tests have not.
const (
	clientCA   = "/etc/kubernetes/ca.crt"
	clientCert = "/etc/kubernetes/kubelet.crt"
	clientKey  = "/etc/kubernetes/kubelet.key"
	kubeconfig = "/etc/kubernetes/kubelet.conf"
)

// ask is a request of somebody who does not look at the server's certificate.
func ask(path string) error {
	certificate, err := tls.LoadX509KeyPair(clientCert, clientKey)
	if err != nil {
		return err
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}},
	}
	client := http.Client{Timeout: 5 * time.Second, Transport: transport}
	response, err := client.Get(os.Getenv("STARTER_API") + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return nil
}

// waitForAPIServer says of each failure what the caller makes of it.
func waitForAPIServer(path string, every time.Duration, failed func(error)) {
	for {
		err := ask(path)
		if err == nil {
			return
		}
		failed(err)
		time.Sleep(every)
	}
}

// serveAPI stands for the API server inside of a server: it is away while this process is, and for a while after.
func serveAPI() {
	time.Sleep(duration("STARTER_DELAY"))
	listener, err := net.Listen("tcp", os.Getenv("STARTER_LISTEN"))
	must(err)
	for {
		near, err := listener.Accept()
		must(err)
		go func() {
			defer near.Close()
			far, err := net.Dial("tcp", os.Getenv("STARTER_UPSTREAM"))
			if err != nil {
				return
			}
			defer far.Close()
			go func() {
				io.Copy(far, near)
				far.Close()
			}()
			io.Copy(near, far)
		}()
	}
}

// notifyReady tells systemd, as Type=notify asks.
func notifyReady(socket string) {
	if socket == "" {
		return
	}
	connection, err := net.Dial("unixgram", strings.Replace(socket, "@", "\x00", 1))
	must(err)
	defer connection.Close()
	_, err = connection.Write([]byte("READY=1\n"))
	must(err)
}

// runChild runs a program until it ends. What it is killed with when this process ends belongs to the thread that started it.
func runChild(path string, args []string, log io.Writer, deathSignal syscall.Signal) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command := exec.Command(path, args...)
	command.Args[0] = filepath.Base(path)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: deathSignal}
	return command.Run()
}

// startContainerd returns when it takes connections.
func startContainerd(socket, state, root string, log io.Writer) {
	must(os.MkdirAll(state, 0o711))
	go func() {
		containerd, err := exec.LookPath("containerd")
		must(err)
		args := []string{"-c", "/etc/containerd/config.toml", "-a", socket, "--state", state, "--root", root}
		say("info", "Running containerd %s", strings.Join(args, " "))
		fatal("containerd exited: %v", runChild(containerd, args, log, syscall.SIGKILL))
	}()
	for {
		connection, err := net.Dial("unix", socket)
		if err == nil {
			connection.Close()
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// writeServingCertificate makes another one each time, as a server signs another one for an agent that starts.
func writeServingCertificate(certificateFile, keyFile, node string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	must(err)
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: node},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(1, 0, 0),
		DNSNames:     []string{node, "localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(err)
	private, err := x509.MarshalECPrivateKey(key)
	must(err)
	write(certificateFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
}

func write(path string, text []byte) {
	must(os.MkdirAll(filepath.Dir(path), 0o755))
	must(os.WriteFile(path, text, 0o600))
}
