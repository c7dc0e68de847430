// Package humanlayer is the function-call API of an older cloud service, so that its
// published SDKs work with nothing changed but their address and key. It translates to the
// use cases that all surfaces share.
package humanlayer
